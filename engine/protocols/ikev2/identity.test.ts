import fc from "fast-check";
import { expect, it } from "vitest";
import { IDENTITY } from "./bodies.ts";
import { isDistinguishedName, plainIdentity, readIdentity } from "./identity.ts";

const said = (text: string): readonly [number, string] | undefined => {
  const identity = readIdentity(text);
  return identity === undefined ? undefined : [identity.type, identity.data.toString("latin1")];
};

it.each<readonly [string, number, string]>([
  ["client.test", IDENTITY.fqdn, "client.test"],
  [" ada ", IDENTITY.fqdn, "ada"],
  ["ada@client.test", IDENTITY.email, "ada@client.test"],
  ["@client.test", IDENTITY.fqdn, "client.test"],
  ["@@client.test", IDENTITY.email, "client.test"],
  ["@ada@client.test", IDENTITY.fqdn, "ada@client.test"],
  ["@#6a6B", IDENTITY.keyId, "jk"],
  ["keyid:a:b", IDENTITY.keyId, "a:b"],
  ["FQDN:ada@client.test", IDENTITY.fqdn, "ada@client.test"],
  ["email:ada", IDENTITY.email, "ada"],
  ["192.0.2.1", IDENTITY.ipv4, "\xc0\x00\x02\x01"],
  ["2001:db8::1", IDENTITY.ipv6, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"],
  ["a:b", IDENTITY.fqdn, "a:b"],
])("%j is an identity of type %i", (text, type, data) => {
  expect(said(text)).toEqual([type, data]);
});

it.each(["", "  ", "@", "@@", "@#", "@#0", "@#0g", "keyid:"])("%j is none", (text) => {
  expect(said(text)).toBeUndefined();
});

it("any other text is one, and says at most what was written", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const identity = readIdentity(text);
      if (identity === undefined) expect(text.trim()).toMatch(/^$|^@|:$/);
      else expect(identity.data.length).toBeLessThanOrEqual(Math.max(16, Buffer.byteLength(text)));
    }),
  );
});

it.each<readonly [string, boolean]>([
  ["C=CH, O=Example, CN=ada", true],
  [" CN = ada", true],
  ["2.5.4.3=ada", false],
  ["keyid:a=b", false],
  ["@a=b", false],
  ["ada", false],
])("%j is a distinguished name: %s", (text, is) => {
  expect(isDistinguishedName(text)).toBe(is);
});

it("a username is taken as it is, whatever signs it has", () => {
  expect(plainIdentity("keyid:a")).toEqual({ type: IDENTITY.fqdn, data: Buffer.from("keyid:a") });
  expect(plainIdentity("@ada")).toEqual({ type: IDENTITY.email, data: Buffer.from("@ada") });
});
