/** The provider of identities (OpenID Connect) as the operator sets it. */

/** A role, and the domain of the addresses that get it without an invitation. */
export interface AutoMember {
  readonly role: "admin" | "manager" | "viewer";
  /** Lower case. */
  readonly domain: string;
}

export interface OidcSettings {
  /** As the provider writes it. */
  readonly issuer: string;
  readonly clientId: string;
  /** null: a public client, which PKCE alone proves. */
  readonly clientSecret: string | null;
  /** The claim with the address of a person. */
  readonly emailClaim: string;
  readonly autoMembers: readonly AutoMember[];
}

/** As the settings have them. */
interface OidcTexts extends Omit<OidcSettings, "issuer" | "clientId" | "autoMembers"> {
  readonly issuer: string | null;
  readonly clientId: string | null;
  readonly baseUrl: string | null;
  readonly autoMembers: readonly string[];
}

const AUTO_MEMBER = /^(?:admin|manager|viewer)@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10}$/i;
/** Without TLS any host on the way could answer in the provider's place. */
const ASKED = /^https:\/\/|^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?:[:/]|$)/;

/** @returns null for none, and one line that names the setting for what cannot be used */
export function oidcSettingsOf({ baseUrl, autoMembers, ...texts }: OidcTexts): OidcSettings | string | null {
  const { issuer, clientId } = texts;
  if ((issuer === null) !== (clientId === null))
    return "SONDE_OIDC_ISSUER and SONDE_OIDC_CLIENT_ID belong together: a provider, and what it calls us";
  const bad = autoMembers.find((rule) => !AUTO_MEMBER.test(rule));
  if (bad !== undefined)
    return "SONDE_OIDC_AUTO_MEMBER must be roles and domains, such as viewer@test-site.org: admin, manager and viewer are roles";
  if (issuer === null || clientId === null) return null;
  if (baseUrl === null)
    return "SONDE_BASE_URL is required when SONDE_OIDC_ISSUER is set: the provider leads people back to it";
  if (!ASKED.test(issuer))
    return "SONDE_OIDC_ISSUER must begin with https://: only a provider on this machine is asked without TLS";
  return { ...texts, issuer, clientId, autoMembers: autoMembers.map(autoMemberOf) };
}

function autoMemberOf(rule: string): AutoMember {
  const [role, domain] = rule.toLowerCase().split("@");
  return { role: role as AutoMember["role"], domain: domain ?? "" };
}
