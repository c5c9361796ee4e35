import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { readAssertion, readAttestation, readChallenge } from "./answer.ts";
import { relyingPartyOf } from "./relying-party.ts";

const clientData = (of: unknown): string => Buffer.from(JSON.stringify(of)).toString("base64url");

describe("answers of browsers", () => {
  it("have the challenge that they answer", () => {
    expect(readChallenge(clientData({ challenge: "abc", crossOrigin: false }))).toBe("abc");
    for (const of of [
      {},
      { challenge: 7 },
      { challenge: "a".repeat(129) },
      [],
      null,
      { challenge: "a", crossOrigin: true },
    ])
      expect(readChallenge(clientData(of))).toBeUndefined();
  });

  property([fc.anything(), fc.string()])("are read or refused, whatever was sent", (sent, text) => {
    const response = { clientDataJSON: text, authenticatorData: text, signature: text, attestationObject: text };
    for (const one of [sent, { id: text, rawId: text, type: "public-key", response }]) {
      expect(readAssertion(one)?.id.length ?? 1).toBeLessThanOrEqual(1_400);
      expect(readAttestation(one)?.id.length ?? 1).toBeLessThanOrEqual(1_400);
    }
    expect(readChallenge(text)?.length ?? 0).toBeLessThanOrEqual(128);
  });
});

it.each([
  ["https://sonde.test-site.org", { id: "sonde.test-site.org", origin: "https://sonde.test-site.org" }],
  ["https://sonde.test-site.org:8443/below", { id: "sonde.test-site.org", origin: "https://sonde.test-site.org:8443" }],
  ["http://localhost:8080", { id: "localhost", origin: "http://localhost:8080" }],
  ["http://sonde.test-site.org", null],
  ["https://192.0.2.7", null],
  ["https://[2001:db8::1]", null],
  [null, null],
])("passkeys at %s are those of %j", (baseUrl, party) => {
  expect(relyingPartyOf(baseUrl)).toEqual(party);
});
