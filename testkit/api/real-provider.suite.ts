/** A certified provider of identities on loopback, and a browser that signs in at it: it follows redirects and sends the provider's forms. */
import { generateKeyPairSync } from "node:crypto";
import { createServer, type Server } from "node:http";
import { Provider } from "oidc-provider";
import { listen } from "../../demo/loopback.ts";

export const CLIENT_ID = "sonde";
export const CLIENT_SECRET = "provider-secret-0123456789-0123456789";

export interface RealProvider {
  readonly issuer: string;
  /** Claims of accounts by what is typed as the login. */
  readonly people: Map<string, Readonly<Record<string, unknown>>>;
  /** Signs in as that account. @returns where the provider leads the browser back to */
  signIn(url: string, login: string): Promise<string>;
  close(): Promise<void>;
}

export async function startProvider(redirectUrl: string): Promise<RealProvider> {
  const people: RealProvider["people"] = new Map();
  const server = createServer();
  const issuer = `http://127.0.0.1:${await listen(server)}`;
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [redirectUrl],
        id_token_signed_response_alg: "ES256",
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: "1", use: "sig", alg: "ES256" }] },
    cookies: { keys: ["of this test"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    pkce: { required: () => true },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id) }) }),
  });
  server.on("request", provider.callback());
  return {
    issuer,
    people,
    signIn: (url, login) => signInAt(url, login, redirectUrl),
    close: () => closed(server),
  };
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((settle) => server.close(settle));
}

/** As many steps as a login and a consent have, and some more. */
const MOST_STEPS = 20;

async function signInAt(start: string, login: string, redirectUrl: string): Promise<string> {
  const cookies = new Map<string, string>();
  let next: { url: string; form: string | null } = { url: start, form: null };
  for (let step = 0; step < MOST_STEPS; step++) {
    const answer = await fetch(next.url, {
      redirect: "manual",
      method: next.form === null ? "GET" : "POST",
      headers: {
        cookie: [...cookies].map((pair) => pair.join("=")).join("; "),
        ...(next.form !== null && { "content-type": "application/x-www-form-urlencoded" }),
      },
      ...(next.form !== null && { body: next.form }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [name = "", value = ""] = (cookie.split(";")[0] ?? "").split(/=(.*)/s);
      cookies.set(name, value);
    }
    const text = await answer.text();
    const to = answer.headers.get("location");
    if (to !== null) {
      const url = new URL(to, next.url).href;
      if (url.startsWith(redirectUrl)) return url;
      next = { url, form: null };
      continue;
    }
    const prompt = /name="prompt" value="(login|consent)"/.exec(text)?.[1];
    const action = /action="([^"]+)"/.exec(text)?.[1];
    if (prompt === undefined || action === undefined)
      throw new Error(`the provider shows no form: ${text.slice(0, 500)}`);
    next = {
      url: new URL(action, next.url).href,
      form: new URLSearchParams({ prompt, login, password: "x" }).toString(),
    };
  }
  throw new Error("the provider leads nowhere");
}
