import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { untrusted } from "../../tunnels/openvpn-faults.ts";
import { certificateOf, ecPublic } from "../keys/hostile-keys.suite.ts";
import { parseProfile } from "./profile.ts";
import { refusalOf, rulesOf } from "./verify.ts";

/** As some authorities make them: names are in the extension alone, or nowhere. */
const nameless = new X509Certificate(certificateOf({ spki: ecPublic("P-256", "named"), subject: "" }));
const named = new X509Certificate(certificateOf({ spki: ecPublic("P-256", "named"), subject: "gw.test-site.org" }));

function refusal(certificate: X509Certificate, line: string): string | null {
  return refusalOf({ certificate: certificate, issuer: () => null }, rulesOf(parseProfile(`${line}\n`)));
}

describe("what a profile asks of the server's certificate", () => {
  it.each(["subject", "name", "name-prefix"])("a certificate without a name has none that is wanted by %s", (kind) => {
    expect(refusal(nameless, `verify-x509-name gw ${kind}`)).toBe(
      "The server's certificate is for another name than verify-x509-name says",
    );
  });

  it("a name is compared as a whole, or from its beginning", () => {
    expect(refusal(named, "verify-x509-name gw.test-site.org name")).toBeNull();
    expect(refusal(named, "verify-x509-name CN=gw.test-site.org subject")).toBeNull();
    expect(refusal(named, "verify-x509-name gw.test name-prefix")).toBeNull();
    expect(refusal(named, "verify-x509-name gw.test name")).not.toBeNull();
  });

  it("`tls-remote` of old profiles is the beginning of a name, or a subject in either form", () => {
    for (const right of ["gw.test", "gw.test-site.org", "/CN=gw.test-site.org"]) {
      expect(refusal(named, `tls-remote ${right}`), right).toBeNull();
    }
    for (const wrong of ["test-site.org", "/CN=gw", "/C=XX/CN=gw.test-site.org", '"C=XX, CN=gw.test-site.org"']) {
      expect(refusal(named, `tls-remote ${wrong}`), wrong).toBe(
        "The server's certificate is for another name than tls-remote says",
      );
    }
    expect(refusal(nameless, "tls-remote gw")).not.toBeNull();
    expect(refusal(named, "tls-remote other\nverify-x509-name gw.test-site.org name")).toBeNull();
    expect(() => refusal(named, 'tls-remote ""')).toThrow("tls-remote has an empty name");
  });

  it("one without a name that is not trusted is told so", () => {
    expect(untrusted("DEPTH_ZERO_SELF_SIGNED_CERT", nameless)).toMatchObject({ verdict: "cert-invalid" });
  });
});
