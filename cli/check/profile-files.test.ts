import fc from "fast-check";
import { expect, it } from "vitest";
import { withFiles } from "./profile-files.ts";

const read = (file: string) => Buffer.from(`bytes of ${file}\n`);

it("puts the files that a profile names into its text", () => {
  const profile = [
    ...["client", "remote vpn.test-site.org", "ca ca.crt", '  cert "my own.crt"', "key\t'my.key'", "tls-auth ta.key 1"],
    ...["crl-verify crl.pem", "crl-verify folder dir", "pkcs12 all.p12", "auth-user-pass login.txt", "ca [inline]"],
    ...["<tls-crypt>", "ca within.crt", "</tls-crypt>", "<connection>", "tls-crypt tc.key", "</connection>"],
  ].join("\r\n");
  expect(withFiles(profile, read).split("\n")).toEqual([
    ...["client", "remote vpn.test-site.org", "<ca>", "bytes of ca.crt", "</ca>", "<cert>", "bytes of my own.crt"],
    ...["</cert>", "<key>", "bytes of my.key", "</key>", "<tls-auth>", "bytes of ta.key", "</tls-auth>"],
    ...["key-direction 1", "<crl-verify>", "bytes of crl.pem", "</crl-verify>", "crl-verify folder dir", "<pkcs12>"],
    ...[read("all.p12").toString("base64"), "</pkcs12>", "auth-user-pass login.txt", "ca [inline]", "<tls-crypt>"],
    ...["ca within.crt", "</tls-crypt>", "<connection>", "<tls-crypt>", "bytes of tc.key", "</tls-crypt>"],
    "</connection>",
  ]);
});

it("leaves a profile without files as it is, whatever else it says", () => {
  const pieces = fc.constantFrom("ca", "key", " ", "\t", '"', "<ca>", "</ca>", "#", "\n", "x", "[inline]");
  const texts = fc.array(fc.oneof(pieces, fc.string())).map((parts) => parts.join(""));
  fc.assert(
    fc.property(texts, (text) => {
      const files: string[] = [];
      const whole = withFiles(text, (file) => {
        files.push(file);
        return Buffer.from("x");
      });
      if (files.length === 0) expect(whole).toBe(text.split(/\r\n|\n|\r/).join("\n"));
    }),
  );
});
