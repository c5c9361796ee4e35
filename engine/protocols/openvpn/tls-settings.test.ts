import { getCiphers } from "node:tls";
import fc from "fast-check";
import { expect, it } from "vitest";
import { cipherListOf, suiteListOf } from "./tls-settings.ts";

it.each([
  ["TLS-ECDHE-RSA-WITH-AES-256-GCM-SHA384", "ecdhe-rsa-aes256-gcm-sha384"],
  ["TLS-ECDHE-ECDSA-WITH-AES-128-GCM-SHA256", "ecdhe-ecdsa-aes128-gcm-sha256"],
  ["TLS-ECDHE-ECDSA-WITH-CHACHA20-POLY1305-SHA256", "ecdhe-ecdsa-chacha20-poly1305"],
  ["TLS-DHE-RSA-WITH-AES-256-CBC-SHA256", "dhe-rsa-aes256-sha256"],
  ["TLS-DHE-RSA-WITH-AES-256-CBC-SHA", "dhe-rsa-aes256-sha"],
  ["TLS-RSA-WITH-AES-128-GCM-SHA256", "aes128-gcm-sha256"],
  ["TLS-ECDHE-RSA-WITH-AES-256-CBC-SHA384", "ecdhe-rsa-aes256-sha384"],
])("%s is OpenSSL's %s", (iana, openssl) => {
  expect(cipherListOf(iana)?.toLowerCase()).toBe(openssl);
  expect(getCiphers()).toContain(openssl);
});

it("leaves OpenSSL's own names and words alone", () => {
  expect(cipherListOf("DEFAULT:!EXP:!LOW:ECDHE-RSA-AES256-GCM-SHA384")).toBe(
    "DEFAULT:!EXP:!LOW:ECDHE-RSA-AES256-GCM-SHA384",
  );
  expect(cipherListOf("!TLS-RSA-WITH-AES-128-GCM-SHA256")).toBe("!AES128-GCM-SHA256");
  expect(cipherListOf(undefined)).toBeNull();
  expect(suiteListOf("TLS_AES_128_GCM_SHA256:TLS-CHACHA20-POLY1305-SHA256")).toBe(
    "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256",
  );
});

it("keeps as many words as there are, whatever they are", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (text) => {
      expect(cipherListOf(text)?.split(":")).toHaveLength(text.split(":").length);
    }),
  );
});
