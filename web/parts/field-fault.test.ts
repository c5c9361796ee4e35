import { expect, it } from "vitest";
import { faultOf } from "./field-fault.ts";

const NAMES = ["name", "url", "host", "port", "interval", "tags"];

it.each([
  ["Missing or invalid port: port must be a whole number from 1 to 65535.", "port"],
  ["Name is required", "name"],
  ["interval must be a whole number from 1 to 86400.", "interval"],
  ["settings.url must begin with https://.", "url"],
  ["host and port belong together.", "host"],
  ["www.port.org is not known.", null],
  ["The service cannot be reached.", null],
])("finds the field of which %s speaks", (message, field) => {
  expect(faultOf(message, NAMES)).toEqual({ field, message, isClosedAddress: false });
});

it("lays an address that is refused to the field that has it, and says whether a setting opens it", () => {
  const closed = "10.0.0.1 cannot be monitored: 10.0.0.1 is a private address.";
  expect(faultOf(closed, NAMES)).toMatchObject({ field: "url", isClosedAddress: true });
  expect(faultOf(closed, ["name", "host", "port"])).toMatchObject({ field: "host", isClosedAddress: true });
  const reserved = "example.org is reserved for documentation and cannot be monitored.";
  expect(faultOf(reserved, NAMES)).toMatchObject({ field: "url", isClosedAddress: false });
});
