import { expect, it } from "vitest";
import { faultOfEnd, faultOfSilence } from "./openvpn-faults.ts";

it("says of a server that is silent since TLS began that it may be full, as one with max-clients or connect-freq is", () => {
  const fault = faultOfSilence("hello", {
    afterMs: 8_000,
    isTaken: false,
    protection: "none",
    hasCertificate: true,
    hasLogin: false,
  });
  expect(fault).toMatchObject({ verdict: "timeout", peerAnswered: true });
  expect(fault.hint).toMatch(/max-clients.*connect-freq.*TLS version/);
});

it("takes an end of the stream before an answer for a wrong key only where the server has ended it", () => {
  const theirs = Object.assign(new Error("closed"), { code: "ECONNRESET" });
  expect(faultOfEnd(theirs, "reset", "tls-crypt")).toMatchObject({ verdict: "misconfigured" });
  expect(faultOfEnd(theirs, "reset", "none")).toMatchObject({ verdict: "closed" });
});
