import fc from "fast-check";
import { expect, it } from "vitest";
import { must, mustEqual } from "../../testkit/must.ts";
import { assertProperty } from "../../testkit/property.ts";
import { TunnelConfigError } from "../contract/tunnel.ts";
import { parseEndpoint, parseHost, parsePort } from "./endpoint.ts";

it.each([
  ["h.test-site.org:1", "h.test-site.org", 1],
  ["[2001:470::1]:1", "2001:470::1", 1],
  ["2001:470::1:443", "2001:470::1", 443],
  ["2001:470::abcd", "2001:470::abcd", 7],
  ["9.9.9.9", "9.9.9.9", 7],
  ["[::1]", "::1", 7],
])("%s", (text, host, port) => {
  expect(parseEndpoint(text, 7, "x")).toEqual({ host, port });
});

it("of any text is a plain endpoint or a reason", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom("a", "1", ".", ":", "[", "]", "%", "-", "_", "é", "/") }),
  );
  assertProperty(
    fc.property(text, (written) => {
      try {
        const { host, port } = parseEndpoint(written, 1, "x");
        mustEqual(parseHost(host), host);
        mustEqual(parsePort(String(port)), port);
      } catch (error) {
        must(error instanceof TunnelConfigError, String(error));
      }
    }),
    { numRuns: 100_000, interruptAfterTimeLimit: 30_000 },
  );
}, 60_000);
