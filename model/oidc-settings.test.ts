import { describe, expect, it } from "vitest";
import { oidcSettingsOf } from "./oidc-settings.ts";

const NONE = { issuer: null, clientId: null, clientSecret: null, emailClaim: "email", autoMembers: [], baseUrl: null };
const SET = {
  ...NONE,
  issuer: "https://login.test-site.org/realms/acme",
  clientId: "sonde",
  baseUrl: "https://sonde.test-site.org",
};

describe("the settings of a provider of identities", () => {
  it("are none, or whole", () => {
    expect(oidcSettingsOf(NONE)).toBeNull();
    expect(oidcSettingsOf({ ...SET, autoMembers: ["Viewer@Test-Site.org", "admin@ops.test-site.org"] })).toEqual({
      ...{ issuer: SET.issuer, clientId: "sonde", clientSecret: null, emailClaim: "email" },
      autoMembers: [
        { role: "viewer", domain: "test-site.org" },
        { role: "admin", domain: "ops.test-site.org" },
      ],
    });
    for (const issuer of ["http://127.0.0.1:8080", "http://[::1]/", "http://localhost"])
      expect(oidcSettingsOf({ ...SET, issuer })).toMatchObject({ issuer });
  });

  it.each([
    [{ ...SET, clientId: null }, "SONDE_OIDC_CLIENT_ID belong together"],
    [{ ...SET, issuer: null }, "SONDE_OIDC_CLIENT_ID belong together"],
    [{ ...SET, baseUrl: null }, "SONDE_BASE_URL is required"],
    [{ ...SET, issuer: "http://login.test-site.org" }, "must begin with https://"],
    [{ ...SET, issuer: "http://127.0.0.1.test-site.org" }, "must begin with https://"],
    [{ ...SET, issuer: "http://localhost@test-site.org" }, "must begin with https://"],
    ...["owner@test-site.org", "viewer@org", "viewer@", "test-site.org", "viewer@a.org@b.org"].map(
      (rule) => [{ ...SET, autoMembers: [rule] }, "SONDE_OIDC_AUTO_MEMBER must be"] as const,
    ),
    [{ ...NONE, autoMembers: ["king@test-site.org"] }, "SONDE_OIDC_AUTO_MEMBER must be"],
  ] as const)("that cannot be used are told: %j", (texts, words) => {
    expect(oidcSettingsOf(texts)).toContain(words);
  });
});
