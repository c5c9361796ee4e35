/** The provider of identities that people sign in at (OpenID Connect): what it says of itself, the way to it, and what it answers. */
import type { ClientAuth, Configuration, CustomFetchOptions, IDToken } from "openid-client";
import type { AutoMember, OidcSettings } from "../../model/oidc-settings.ts";
import { parseUrl } from "../../model/url.ts";
import type { Attempt } from "./attempt.ts";
import { type Account, readAccount } from "./claims.ts";

type Library = typeof import("openid-client");

/** Each request to the provider, s: a person waits for it. */
const REQUEST_S = 10;
/** How far its clock and ours may be apart, s. */
const CLOCK_TOLERANCE_S = 60;
/** What it says of itself is asked anew after that time, ms. */
const METADATA_LIVES_MS = 3_600_000;
const SCOPE = "openid email profile";
/** Of what went wrong, in the log. */
const MOST_REASON = 300;

/** One request past the address guard, with a bound of its answer; redirects are not followed. */
export type ProviderFetch = (url: string, init: ProviderRequest) => Promise<Response>;

export interface ProviderRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Why a person is not signed in: `denied`, the provider says no; `provider`, it does not answer, or nothing that can be believed. */
export class ProviderFault extends Error {
  override readonly name = "ProviderFault";
  readonly word: "denied" | "provider";

  constructor(word: ProviderFault["word"], reason: string) {
    super(reason.slice(0, MOST_REASON));
    this.word = word;
  }
}

interface Loaded {
  readonly library: Library;
  readonly configuration: Configuration;
}

export interface ProviderMeans {
  /** SONDE_BASE_URL: the provider compares the redirect address letter by letter. */
  readonly baseUrl: string;
  readonly fetch: ProviderFetch;
  readonly monotonicNowMs: () => number;
  /** Of each request; absent: the standard. */
  readonly requestS?: number;
}

export class OidcProvider {
  readonly #settings: OidcSettings;
  readonly #redirectUrl: string;
  readonly #fetch: ProviderFetch;
  readonly #monotonicNowMs: () => number;
  readonly #requestS: number;
  #loaded: { readonly at: number; readonly ready: Promise<Loaded> } | null = null;

  constructor(settings: OidcSettings, { baseUrl, fetch, monotonicNowMs, requestS = REQUEST_S }: ProviderMeans) {
    this.#settings = settings;
    this.#redirectUrl = `${baseUrl}/api/v1/session/oidc`;
    this.#fetch = fetch;
    this.#monotonicNowMs = monotonicNowMs;
    this.#requestS = requestS;
  }

  /** Its host: what people know it by. */
  get name(): string {
    return parseUrl(this.#settings.issuer)?.host ?? this.#settings.issuer;
  }

  get autoMembers(): readonly AutoMember[] {
    return this.#settings.autoMembers;
  }

  /** Where the person goes to sign in. @throws ProviderFault */
  async begin({ state, nonce, verifier }: Attempt): Promise<string> {
    return this.#asking(async ({ library, configuration }) => {
      const url = library.buildAuthorizationUrl(configuration, {
        redirect_uri: this.#redirectUrl,
        scope: SCOPE,
        response_type: "code",
        state,
        nonce,
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      if (url.protocol !== "https:" && !(this.#isPlain && url.protocol === "http:"))
        throw new ProviderFault("provider", "its authorization_endpoint is not https");
      return url.href;
    });
  }

  /** @param query that the person came back with @throws ProviderFault */
  async finish(query: string, { state, nonce, verifier }: Attempt): Promise<Account> {
    return this.#asking(async ({ library, configuration }) => {
      const tokens = await library.authorizationCodeGrant(configuration, new URL(`${this.#redirectUrl}?${query}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new ProviderFault("provider", "its answer has no ID token");
      const more = await this.#moreClaims({ library, configuration }, tokens.access_token, claims);
      // What the signed token says wins.
      const account = readAccount(claims.iss, { ...more, ...claims }, this.#settings.emailClaim);
      if (account === undefined) throw new ProviderFault("provider", "its ID token has a sub that is none");
      return account;
    });
  }

  /** Many providers put the address into the answer about the user alone (OpenID Connect Core section 5.3). */
  async #moreClaims({ library, configuration }: Loaded, accessToken: string, claims: IDToken) {
    const isThere = Object.hasOwn(claims, this.#settings.emailClaim);
    if (isThere || configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    return library.fetchUserInfo(configuration, accessToken, claims.sub);
  }

  async #asking<T>(ask: (loaded: Loaded) => Promise<T>): Promise<T> {
    try {
      return await ask(await this.#load());
    } catch (error) {
      throw faultOf(error);
    }
  }

  #load(): Promise<Loaded> {
    const at = this.#monotonicNowMs();
    if (this.#loaded !== null && at - this.#loaded.at < METADATA_LIVES_MS) return this.#loaded.ready;
    const ready = this.#discover();
    const loaded = { at, ready };
    this.#loaded = loaded;
    ready.catch(() => {
      if (this.#loaded === loaded) this.#loaded = null;
    });
    return ready;
  }

  async #discover(): Promise<Loaded> {
    // Loaded with the first sign-in: most services have no provider.
    const library = await import("openid-client");
    const { issuer, clientId, clientSecret } = this.#settings;
    const configuration = await library.discovery(
      new URL(issuer),
      clientId,
      { [library.clockTolerance]: CLOCK_TOLERANCE_S },
      authenticationOf(library, clientSecret),
      {
        timeout: this.#requestS,
        [library.customFetch]: (url, options) => this.#request(url, options),
        // Also where a token came straight from the provider, its signature is looked at.
        execute: [library.enableNonRepudiationChecks, ...(this.#isPlain ? [library.allowInsecureRequests] : [])],
      },
    );
    const found = configuration.serverMetadata().issuer;
    // The library lets some well-known providers differ: the operator writes what the tokens say.
    if (found !== issuer)
      throw new ProviderFault("provider", `it calls itself ${found}: SONDE_OIDC_ISSUER must be that`);
    return { library, configuration };
  }

  /** config.ts lets only loopback be asked without TLS. */
  get #isPlain(): boolean {
    return this.#settings.issuer.startsWith("http:");
  }

  async #request(url: string, { method, headers, body, signal }: CustomFetchOptions): Promise<Response> {
    try {
      return await this.#fetch(url, {
        method,
        headers,
        ...(body !== undefined && body !== null && { body: String(body) }),
        ...(signal !== undefined && { signal }),
      });
    } catch (error) {
      const reason = signal?.aborted === true ? `no answer within ${this.#requestS} s` : (error as Error).message;
      throw new ProviderFault("provider", reason);
    }
  }
}

/** As the provider says that it wants it; RFC 8414 section 2: without a word of it, by the header. */
function authenticationOf(library: Library, secret: string | null): ClientAuth {
  if (secret === null) return library.None();
  const [basic, post] = [library.ClientSecretBasic(secret), library.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    return (methods.includes("client_secret_basic") ? basic : post)(server, ...rest);
  };
}

/** Messages of the library are its own words; what the provider sent stays in their causes that are no errors, which the log never has. */
function faultOf(error: unknown): ProviderFault {
  const messages: string[] = [];
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if (inner instanceof ProviderFault) return inner;
    const { error: word } = inner as Error & { readonly error?: unknown };
    // RFC 6749 section 4.1.2.1: the provider sent the person back with an error.
    if (inner.name === "AuthorizationResponseError") return new ProviderFault("denied", `it answered ${String(word)}`);
    messages.push(typeof word === "string" ? `${inner.message} (${word})` : inner.message);
  }
  return new ProviderFault("provider", [...new Set(messages)].join(": "));
}
