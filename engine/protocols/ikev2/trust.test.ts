import { createHash, X509Certificate } from "node:crypto";
import { rootCertificates } from "node:tls";
import { describe, expect, it } from "vitest";
import {
  type CertificateOptions,
  type MadeCertificate,
  makeAuthority,
  makeCertificate,
} from "../../../demo/certificates.ts";
import { NetworkFault } from "../../net/fault.ts";
import { certificateOf, ecPublic, oddNumber, rsaPublic } from "../keys/hostile-keys.suite.ts";
import { readCertificate } from "./certificate.ts";
import { createAnchors, trustedKey } from "./trust.ts";

const NOW_MS = Date.now();
const DAY_MS = 86_400_000;
const root = makeAuthority("root");
const anchors = createAnchors([root.certPem]);

function leaf(options: Partial<CertificateOptions> = {}): MadeCertificate {
  return makeCertificate({ commonName: "gw", names: ["gw.test", "192.0.2.7"], issuer: root, ...options });
}

/** `ok`, or why not. */
function verdictOf(
  chain: readonly MadeCertificate[],
  { identity = "gw.test", nowMs = NOW_MS, trusted = anchors } = {},
): string {
  const certificates = chain.map(({ certPem }) => new X509Certificate(certPem).raw);
  try {
    const key = trustedKey(certificates, trusted, identity, nowMs);
    return key.equals(new X509Certificate(chain[0]?.certPem ?? "").publicKey) ? "ok" : "another key";
  } catch (error) {
    if (error instanceof NetworkFault && error.verdict === "cert-invalid") return error.message;
    throw error;
  }
}

/** An extension of this name with any value: 06 oid, critical, 04 value. */
const critical = (oid: string, value = "3000"): Buffer => {
  const name = Buffer.from(oid, "hex");
  const content = Buffer.from(value, "hex");
  const body = Buffer.concat([
    Buffer.from([0x06, name.length]),
    name,
    Buffer.from([0x01, 0x01, 0xff, 0x04, content.length]),
    content,
  ]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
};

describe("a gateway's certificate", () => {
  it.each(["gw.test", "192.0.2.7", "a@gw.test", "CN=gw"])("without any name is not for %s", (identity) => {
    const nameless = certificateOf({ spki: ecPublic("P-256", "named"), subject: "" });
    expect(() => trustedKey([nameless], anchors, identity, NOW_MS)).toThrow(
      `The gateway's certificate is for another name than ${identity}`,
    );
  });

  it.each(["gw.test", "a@gw.test"])("whose name is no text is not for %s", (identity) => {
    const der = Buffer.from(certificateOf({ spki: ecPublic("P-256", "named"), subject: "odd.rig", issuer: "root" }));
    // RELATIVE-OID in the place of a UTF8String: OpenSSL cannot make text of it.
    der[der.indexOf("odd.rig") - 2] = 0x0d;
    expect(readCertificate(der)).toBeDefined();
    expect(() => trustedKey([der], anchors, identity, NOW_MS)).toThrow(
      `The gateway's certificate is for another name than ${identity}`,
    );
  });

  it("whose time is none cannot be read: it would never be too late", () => {
    const der = Buffer.from(certificateOf({ spki: ecPublic("P-256", "named"), subject: "gw.test" }));
    const timesAt = der.indexOf(Buffer.from([0x18, 15])) + 2;
    expect(readCertificate(der)).toBeDefined();
    for (const at of [timesAt, timesAt + 17]) {
      const odd = Buffer.from(der);
      odd.write("99999999999999Z", at, "latin1");
      expect(readCertificate(odd)).toBeUndefined();
    }
  });

  it.each<[string, () => Buffer]>([
    ["RSA of 16,384 bits", () => rsaPublic(16_384)],
    ["an exponent of 3,072 bits", () => rsaPublic(3_072, oddNumber(3_064))],
    ["a curve by its own numbers", () => ecPublic("P-521", "explicit")],
  ])("that would cost too much to verify with is none: %s", (_name, spki) => {
    const hostile = certificateOf({ spki: spki(), subject: "gw.test", issuer: "root", isAuthority: false });
    expect(readCertificate(hostile)).toBeUndefined();
    expect(() => trustedKey([hostile], anchors, "gw.test", NOW_MS)).toThrow("The gateway's certificate cannot be read");
    // Nor is it looked at between the gateway's own and an authority.
    const own = new X509Certificate(leaf({ issuer: makeAuthority("middle") }).certPem).raw;
    expect(() => trustedKey([own, hostile], anchors, "gw.test", NOW_MS)).toThrow("unknown authority");
  });

  it("is trusted through its authority, and through authorities between, in any order and with others beside", () => {
    const middle = makeCertificate({ commonName: "middle", ca: true, issuer: root });
    const lower = makeCertificate({ commonName: "lower", ca: true, issuer: middle });
    const stray = makeAuthority("stray");
    expect(verdictOf([leaf()])).toBe("ok");
    expect(verdictOf([leaf({ issuer: middle }), middle])).toBe("ok");
    expect(verdictOf([leaf({ issuer: lower }), stray, middle, lower, root])).toBe("ok");
    expect(verdictOf([leaf({ issuer: lower }), lower])).toContain("unknown authority");
  });

  it("is trusted when it is itself among those that are", () => {
    const own = makeCertificate({ commonName: "gw", names: ["gw.test"] });
    expect(verdictOf([own])).toContain("unknown authority");
    expect(verdictOf([own], { trusted: createAnchors([own.certPem]) })).toBe("ok");
  });

  it.each([
    ["gw.test", "ok"],
    ["GW.test", "ok"],
    ["192.0.2.7", "ok"],
    ["CN=gw", "ok"],
    ["192.0.2.8", "for another name than 192.0.2.8"],
    ["gw", "for another name than gw"],
    ["other.test", "for another name"],
    ["CN=other", "for another name"],
    ["someone@gw.test", "for another name"],
  ])("asked for as %s is %s", (identity, said) => {
    expect(verdictOf([leaf()], { identity })).toContain(said);
  });

  it("is not trusted before its time, after it, or when an authority's is over", () => {
    const middle = makeCertificate({ commonName: "middle", ca: true, issuer: root, notAfterMs: NOW_MS + DAY_MS });
    expect(verdictOf([leaf({ notAfterMs: NOW_MS - 1_000 })])).toContain("has expired");
    expect(verdictOf([leaf({ notBeforeMs: NOW_MS + DAY_MS })])).toContain("not valid yet");
    const chain = [leaf({ issuer: middle }), middle];
    expect(verdictOf(chain)).toBe("ok");
    expect(verdictOf(chain, { nowMs: NOW_MS + 2 * DAY_MS })).toContain("authority's certificate has expired");
  });

  it("is not trusted by the word of who may not sign, or of a namesake", () => {
    const plain = makeCertificate({ commonName: "plain", issuer: root });
    const namesake = makeAuthority("root");
    expect(verdictOf([leaf({ issuer: plain }), plain])).toContain("unknown authority");
    expect(verdictOf([leaf({ issuer: namesake }), namesake])).toContain("unknown authority");
  });

  it("is not trusted through a longer chain than an authority allows, or with unknown critical rules", () => {
    const last = makeCertificate({ commonName: "last", ca: true, issuer: root, pathLength: 0 });
    const below = makeCertificate({ commonName: "below", ca: true, issuer: last });
    expect(verdictOf([leaf({ issuer: last }), last])).toBe("ok");
    expect(verdictOf([leaf({ issuer: below }), below, last])).toContain("does not allow this chain");
    // nameConstraints, 2.5.29.30.
    const limited = makeCertificate({ commonName: "limited", ca: true, issuer: root, more: [critical("551d1e")] });
    expect(verdictOf([leaf({ issuer: limited }), limited])).toContain("does not allow this chain");
    expect(verdictOf([leaf({ more: [critical("551d1e")] })])).toContain("rules that are not understood");
  });

  it("is not trusted when it is for something else, or cannot be read", () => {
    // extKeyUsage with clientAuth only.
    const client = leaf({ more: [critical("551d25", "300a06082b06010505070302")] });
    expect(verdictOf([client])).toContain("not for servers");
    expect(() => trustedKey([Buffer.from("30820101", "hex")], anchors, "gw.test", NOW_MS)).toThrow("cannot be read");
    expect(() => trustedKey([], anchors, "gw.test", NOW_MS)).toThrow("cannot be read");
  });

  it("may be trusted through each of the public authorities, the first of which are named to gateways", () => {
    const { bySubject, keyHashes } = createAnchors(rootCertificates);
    expect([...bySubject.values()].flat()).toHaveLength(rootCertificates.length);
    const keys = rootCertificates.slice(0, keyHashes.length).map((pem) => new X509Certificate(pem).publicKey);
    const hashes = keys.map((key) =>
      createHash("sha1")
        .update(key.export({ type: "spki", format: "der" }))
        .digest(),
    );
    expect(keyHashes).toEqual(hashes);
    expect(keyHashes).toHaveLength(16);
    for (const pem of rootCertificates.slice(0, 20)) {
      const { raw } = new X509Certificate(pem);
      expect(() => trustedKey([raw], createAnchors(rootCertificates), "other.test", NOW_MS)).toThrow("another name");
    }
  });

  it("among many namesakes is looked for with an end", () => {
    const same = makeAuthority("same");
    const heap = Array.from({ length: 15 }, () => makeCertificate({ commonName: "same", ca: true, issuer: same }));
    expect(verdictOf([leaf({ issuer: same }), ...heap.map((each) => ({ ...each, key: same.key }))])).toContain(
      "unknown authority",
    );
  });
});
