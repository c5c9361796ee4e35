import { expect, it } from "vitest";
import { classify } from "../net/classify.ts";
import { NetworkFault } from "../net/fault.ts";
import type { Address } from "../transport/transport.ts";
import { withUnasked } from "./unasked-addresses.ts";

const resolved: readonly Address[] = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((ip) => ({ ip, family: 4 }));
const asked = resolved.slice(0, 1);
const context = { signal: new AbortController().signal };
const words = "The name has 3 addresses, and the check asked 10.0.0.1, as a client of this protocol does";

it("names the addresses that were asked, and how many there are", () => {
  const silent = new NetworkFault("timeout", "No answer", { peerAnswered: false, hint: "It may be down" });
  expect(withUnasked(silent, { resolved, asked }, context)).toMatchObject({
    verdict: "timeout",
    message: "No answer",
    peerAnswered: false,
    hint: `It may be down. ${words}`,
  });
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  expect(classify(withUnasked(refused, { resolved, asked }, context), "handshake")).toMatchObject({
    verdict: "refused",
    hint: words,
  });
});

it.each<[string, Error, readonly Address[], AbortSignal]>([
  ["all were asked", new NetworkFault("timeout", "x"), resolved, context.signal],
  ["the server answered", new NetworkFault("auth-failed", "x", { peerAnswered: true }), asked, context.signal],
  ["the fault is ours", new NetworkFault("unfit", "x"), asked, context.signal],
  ["the check is over", new NetworkFault("timeout", "x"), asked, AbortSignal.abort()],
])("says nothing when %s", (_, error, some, signal) => {
  expect(withUnasked(error, { resolved, asked: some }, { signal })).toBe(error);
});
