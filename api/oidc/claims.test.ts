import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { readAccount } from "./claims.ts";

const ISSUER = "https://login.test-site.org";
const emailOf = (claims: Readonly<Record<string, unknown>>, claim = "email") =>
  readAccount(ISSUER, { sub: "1", ...claims }, claim)?.email;

describe("what a provider says of a person", () => {
  it("has a verified address, a name and an account", () => {
    const claims = { sub: "a b", email: "Ada@Test-Site.org", email_verified: true, name: " Ada \u0000 Byron " };
    expect(readAccount(ISSUER, claims, "email")).toEqual({
      ...{ provider: ISSUER, subject: "a b", email: "ada@test-site.org", name: "Ada  Byron" },
    });
    expect(emailOf({ email: "a@b.org", email_verified: "true" })).toBe("a@b.org");
  });

  it("vouches for an address in a claim of its own, where the operator says so", () => {
    expect(emailOf({ upn: "ada@test-site.org" }, "upn")).toBe("ada@test-site.org");
    expect(emailOf({ email: "ada@test-site.org", email_verified: true }, "upn")).toBeNull();
    for (const name of ["constructor", "__proto__", "toString"]) expect(emailOf({}, name)).toBeNull();
  });

  it.each([
    ...[false, null, undefined, 1, "yes", [true]].map((verified) => ({ email: "a@b.org", email_verified: verified })),
    ...["", "a", "a@", "@b.org", "a@b@c.org", "a b@c.org", "a,b@c.org", "<a@b.org>", "a@b.org\n", "\u212Ai@b.org"].map(
      (email) => ({ email, email_verified: true }),
    ),
    ...[["a@b.org"], { a: 1 }, 7, `${"a".repeat(60)}@${"b".repeat(250)}`].map((email) => ({
      email,
      email_verified: true,
    })),
  ])("has no address in %j", (claims) => {
    expect(emailOf(claims)).toBeNull();
  });

  it.each([undefined, "", 7, "ä", "a\u0000", "x".repeat(256)])("is no account with the subject %j", (sub) => {
    expect(readAccount(ISSUER, { sub }, "email")).toBeUndefined();
  });

  property([
    fc.record({ sub: fc.anything(), email: fc.anything(), email_verified: fc.anything(), name: fc.anything() }),
  ])("is an account of bounded texts, or none", (claims) => {
    const account = readAccount(ISSUER, claims, "email");
    if (account === undefined) return;
    expect(account.subject.length).toBeLessThanOrEqual(255);
    expect(account.email === null || /^[!-~]{3,254}$/.test(account.email)).toBe(true);
    expect(account.name === null || account.name.length <= 240).toBe(true);
  });
});
