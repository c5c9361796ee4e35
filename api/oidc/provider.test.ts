/** A provider that lies, stalls or floods signs no one in. Each case is a provider on loopback, asked through the guarded dial. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { providerFetch } from "../../roles/provider.ts";
import { attemptsHere } from "../../scheduler/alerts/attempts/attempts.ts";
import { newAttempt } from "./attempt.ts";
import { OidcProvider, ProviderFault } from "./provider.ts";

const BASE_URL = "https://sonde.test-site.org";
const CLIENT_ID = "sonde";
const ENGINE = {
  ...{ allowNets: ["127.0.0.0/8"], ownEndpoints: [], resolvers: [], extraCaPem: null },
  ...{ rdapBootstrapUrl: null, canaries: null },
};

/** What a case changes of an honest provider. */
interface Lies {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly signature?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly keys?: readonly unknown[];
  /** Answers a path by itself. */
  answer?(path: string, response: ServerResponse): boolean;
  readonly userinfo?: Readonly<Record<string, unknown>>;
}

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const otherKey: KeyObject = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const JWK = { ...publicKey.export({ format: "jwk" }), kid: "1", use: "sig", alg: "ES256" };
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

let server: Server;
let issuer = "";
let lies: Lies = {};
let nonce = "";
const asked: string[] = [];
const opened = providerFetch(attemptsHere(ENGINE));

function tokenOf({ header, claims, signature }: Lies, key: KeyObject = privateKey): string {
  const nowS = Math.floor(Date.now() / 1_000);
  const body = { iss: issuer, sub: "ada", aud: CLIENT_ID, iat: nowS, exp: nowS + 300, nonce };
  const email = { email: "ada@test-site.org", email_verified: true };
  const text = `${base64({ alg: "ES256", kid: "1", ...header })}.${base64({ ...body, ...email, ...claims })}`;
  return `${text}.${signature ?? sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

function metadata(): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    id_token_signing_alg_values_supported: ["ES256", "HS256", "none"],
    ...lies.metadata,
  };
}

function answer({ url: path = "" }: IncomingMessage, response: ServerResponse): void {
  asked.push(path);
  if (lies.answer?.(path, response) === true) return;
  const say = (value: unknown): void => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(value));
  };
  if (path.startsWith("/.well-known/")) say(metadata());
  else if (path === "/keys") say({ keys: lies.keys ?? [JWK] });
  else if (path === "/userinfo") say(lies.userinfo);
  else
    say({
      access_token: "t",
      token_type: "Bearer",
      id_token: tokenOf(lies, lies.signature === "" ? otherKey : privateKey),
    });
}

beforeAll(async () => {
  server = createServer(answer);
  issuer = `http://127.0.0.1:${await listen(server)}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((settle) => server.close(settle));
});

/** From the click to the return. */
async function signIn(ofCase: Lies, fetch = opened, requestS = 60) {
  lies = ofCase;
  asked.length = 0;
  const settings = { issuer, clientId: CLIENT_ID, clientSecret: "s3cret", emailClaim: "email", autoMembers: [] };
  const provider = new OidcProvider(settings, { baseUrl: BASE_URL, fetch, monotonicNowMs: () => 0, requestS });
  const attempt = newAttempt();
  nonce = attempt.nonce;
  await provider.begin(attempt);
  return provider.finish(new URLSearchParams({ code: "c", state: attempt.state, ...ofCase.query }).toString(), attempt);
}

const pastS = Math.floor(Date.now() / 1_000);

describe("an honest provider", () => {
  it("is believed, also when its clock is a little wrong, and the user's own answer tells the address", async () => {
    const account = { provider: issuer, subject: "ada", email: "ada@test-site.org", name: null };
    expect(await signIn({})).toEqual(account);
    expect(await signIn({ claims: { iat: pastS + 30, exp: pastS - 30 } })).toEqual(account);
    const metadata = { userinfo_endpoint: `${issuer}/userinfo` };
    const userinfo = { sub: "ada", email: "ada@test-site.org", email_verified: true };
    expect(await signIn({ claims: { email: undefined }, metadata, userinfo })).toEqual(account);
    expect(asked.at(-1)).toBe("/userinfo");
  });
});

describe("a hostile provider signs no one in", () => {
  const word = (text: RegExp | string) => expect.stringMatching(text);

  it.each<readonly [string, () => Lies, RegExp]>([
    [
      "another issuer in what it says of itself",
      () => ({ metadata: { issuer: "https://evil.test-site.org" } }),
      /issuer/,
    ],
    ["another issuer in the token", () => ({ claims: { iss: "https://evil.test-site.org" } }), /iss/],
    ["another issuer at the return", () => ({ query: { iss: "https://evil.test-site.org" } }), /iss/],
    ["a token for another program", () => ({ claims: { aud: "other" } }), /aud/],
    ["a token for several, given to another", () => ({ claims: { aud: [CLIENT_ID, "b"], azp: "b" } }), /azp/],
    ["another nonce", () => ({ claims: { nonce: "other" } }), /nonce/],
    ["no nonce", () => ({ claims: { nonce: undefined } }), /nonce/],
    ["a token that has ended", () => ({ claims: { exp: pastS - 120 } }), /exp/],
    ["a token without an end", () => ({ claims: { exp: undefined } }), /exp/],
    ["a token that begins later", () => ({ claims: { nbf: pastS + 120 } }), /nbf/],
    ["alg none", () => ({ header: { alg: "none" }, signature: "" }), /alg|JWS|unsupported/i],
    ["the secret as the key", () => ({ header: { alg: "HS256" } }), /alg|JWS|unsupported/i],
    ["the signature of another key", () => ({ signature: "AAAA" }), /signature/i],
    ["keys that are none of it", () => ({ keys: [{ ...JWK, kid: "2" }] }), /key/i],
    ["keys that never end", () => ({ keys: Array.from({ length: 2_000 }, () => JWK) }), /bytes|large/i],
    ["an ID token of a megabyte", () => ({ claims: { more: "x".repeat(1_000_000) } }), /bytes|large/i],
    [
      "no token",
      () => ({ answer: (path, out) => path === "/token" && refuse(out, 400, '{"error":"invalid_grant"}') }),
      /invalid_grant/,
    ],
    [
      "a page in the place of its keys",
      () => ({ answer: (path, out) => path === "/keys" && refuse(out, 200, "<html>") }),
      /./,
    ],
    [
      "another person's data",
      () => ({
        claims: { email: undefined },
        metadata: { userinfo_endpoint: `${issuer}/userinfo` },
        userinfo: { sub: "eve", email: "ada@test-site.org", email_verified: true },
      }),
      /sub/,
    ],
    ["no subject", () => ({ claims: { sub: undefined } }), /sub/],
    ["a redirect before it says what it is", () => ({ answer: redirected("/.well-known/openid-configuration") }), /./],
    ["a redirect in the place of a token", () => ({ answer: redirected("/token") }), /./],
    [
      "an address to sign in at that is a script",
      () => ({ metadata: { authorization_endpoint: "javascript:alert(1)" } }),
      /HTTP/,
    ],
    [
      "a token endpoint inside",
      () => ({ metadata: { token_endpoint: "http://10.0.0.1/token" } }),
      /SONDE_ALLOW_NETS|private|10\.0\.0\.1/,
    ],
  ])("with %s", async (_, liesOf, reason) => {
    const failure = await signIn(liesOf()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProviderFault);
    expect(failure).toMatchObject({ word: "provider", message: word(reason) });
    expect(asked).not.toContain("/elsewhere");
    expect((failure as Error).message).not.toContain("s3cret");
  });

  it("when it takes too long, and at an address that is not opened", async () => {
    const stalls = signIn({ answer: (path) => path === "/token" }, opened, 1);
    await expect(stalls).rejects.toMatchObject({ word: "provider", message: "no answer within 1 s" });
    const closed = signIn({}, providerFetch(attemptsHere({ ...ENGINE, allowNets: [] })));
    await expect(closed).rejects.toMatchObject({ message: word(/SONDE_ALLOW_NETS=127\.0\.0\.1/) });
    expect(asked).toEqual([]);
  });

  it("when it says no, by its own word", async () => {
    const denied = signIn({ query: { error: "access_denied", error_description: "<script>" } });
    await expect(denied).rejects.toMatchObject({ word: "denied", message: "it answered access_denied" });
  });
});

function refuse(response: ServerResponse, status: number, text: string): true {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(text);
  return true;
}

function redirected(from: string): (path: string, response: ServerResponse) => boolean {
  return (path, response) => {
    if (path !== from) return false;
    response.writeHead(302, { location: `${issuer}/elsewhere` });
    response.end();
    return true;
  };
}
