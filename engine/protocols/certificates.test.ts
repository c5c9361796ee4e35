import { X509Certificate } from "node:crypto";
import { rootCertificates } from "node:tls";
import { describe, expect, it } from "vitest";
import { makeAuthority } from "../../demo/certificates.ts";
import { prepareServer } from "../tunnels/openconnect-server.ts";
import { requireCertificates } from "./certificates.ts";
import { parseIkev2 } from "./ikev2/config.ts";
import {
  certificatePem,
  dsaPublic,
  ecPublic,
  ecPublicOn,
  nested,
  oddNumber,
  rsaPublic,
} from "./keys/hostile-keys.suite.ts";
import { readPem, writePem } from "./keys/pem.ts";
import { parseOpenconnect } from "./openconnect/config.ts";

const authority = makeAuthority().certPem;
const login = { host: "vpn.test-site.org", username: "ada", password: "word" };

describe("certificates of a configuration", () => {
  it("are written anew: every public authority, word for word", () => {
    const written = readPem(requireCertificates(rootCertificates.join("\n"), "ca"));
    expect(written.map(({ der }) => der)).toEqual(rootCertificates.map((pem) => new X509Certificate(pem).raw));
  });

  const hostile: readonly (readonly [string, string])[] = [
    [certificatePem({ spki: rsaPublic(16_384) }), "ca holds an RSA modulus of 16384 bits; at most 8192 are accepted"],
    [certificatePem({ spki: rsaPublic(3_072, oddNumber(3_064)) }), "ca holds an RSA public exponent of 3064 bits"],
    [certificatePem({ spki: dsaPublic(10_000) }), "ca holds a DSA modulus of 10000 bits"],
    [certificatePem({ spki: ecPublic("P-256", "explicit") }), "ca holds an elliptic curve by its own numbers"],
    [
      certificatePem({ spki: ecPublicOn("1.3.132.0.39") }),
      "ca holds an elliptic curve that is not known (1.3.132.0.39)",
    ],
    [writePem("CERTIFICATE", nested(4_000)), "ca holds a certificate nested deeper than 32 levels"],
    [authority.repeat(1_024), "ca holds more than 256 certificates"],
    ["junk".repeat(250_000), "ca holds no certificate in PEM"],
    [writePem("CERTIFICATE", Buffer.alloc(1_000_000, 0x30)), "ca holds a certificate of 1000000 bytes; at most 65536"],
  ];
  it.each(hostile)(
    "are refused at the door of OpenConnect and IKEv2, also behind a good one: case %#",
    (pem, words) => {
      for (const ca of words.includes("no certificate") ? [pem] : [pem, authority + pem]) {
        expect(() => parseOpenconnect({ ...login, ca })).toThrow(words);
        expect(() => parseIkev2({ ...login, ca })).toThrow(words);
        expect(() => prepareServer({ ...login, ca })).toThrow(words);
      }
    },
  );
});
