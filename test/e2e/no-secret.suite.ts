/** No secret leaves: monitors of every kind, a webhook and a subscription carry marks, and every way out is searched for them. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { openReceiver, type Receiver } from "../../scheduler/webhooks/receivers.suite.ts";
import { freePort } from "../../testkit/free-port.ts";
import { admin } from "../admin.ts";
import { createMonitor, type Product, type ProductSettings, startProduct, untilStatus } from "../product.ts";
import { cleanUp, ended, eventually, runSonde } from "../service.ts";

/** Each stands in one secret, and nowhere else. Letters and digits only, so that no encoding of URLs or JSON changes one. */
const MARKS = {
  user: "m4rkuser",
  password: "m4rkpassword",
  query: "m4rkquery",
  fragment: "m4rkfragment",
  location: "m4rklocation",
  tunnel: "m4rktunnel",
  link: "m4rklink",
  hook: "m4rkhook",
  provider: "m4rkprovider",
  channel: "m4rkchannel",
  oidc: "m4rkoidc",
  code: "m4rkcode",
} as const;
type Mark = keyof typeof MARKS;
const NAMES = Object.keys(MARKS) as Mark[];

/** Two minutes: machines are shared. */
const WITHIN_MS = 120_000;
const ALLOW = { SONDE_ALLOW_NETS: "127.0.0.0/8" };
const METRICS = "token-of-metrics";
/** Of the provider of identities. */
const TOKEN_PATH = "/token";

export interface Stores {
  readonly settings: ProductSettings;
  /** Everything that the stores hold, as text, by name. */
  dump(): Promise<Readonly<Record<string, string>>>;
}

interface Asked {
  readonly path: string;
  readonly authorization: string;
  /** Of a message to the channel; empty else. */
  readonly body: string;
}

interface Ways {
  readonly [place: string]: string;
}

export function noSecretSuite(name: string, open: () => Promise<Stores>): void {
  describe(`no secret leaves, on ${name}`, () => {
    let product: Product;
    let stores: Stores;
    let receiver: Receiver;
    let server: Server;
    let port = 0;
    let viewerKey = "";
    const asked: Asked[] = [];

    beforeAll(async () => {
      stores = await open();
      receiver = await openReceiver();
      server = createServer((request, response) => {
        // The product may be killed while it asks.
        answer(request, response, asked).catch(() => {});
      });
      port = await listen(server);
      const { env, ...rest } = stores.settings;
      const apiPort = await freePort();
      const provider = {
        SONDE_BASE_URL: `http://127.0.0.1:${apiPort}`,
        SONDE_OIDC_ISSUER: `http://127.0.0.1:${port}`,
        SONDE_OIDC_CLIENT_ID: "sonde",
        SONDE_OIDC_CLIENT_SECRET: MARKS.oidc,
      };
      const chatty = { SONDE_LOG: "debug", SONDE_METRICS_TOKEN: METRICS };
      product = await startProduct({ ...rest, port: apiPort, env: { ...env, ...provider, ...chatty } });
      const url = `http://127.0.0.1:${receiver.port}/services/${MARKS.hook}?key=${MARKS.hook}`;
      await act("webhook", "create", "--project", "prj_1", "--url", url);
      const viewer = [
        "member",
        "add",
        "--workspace",
        "1",
        "--email",
        "viewer@test-site.org",
        "--role",
        "viewer",
      ] as const;
      viewerKey = (await act<{ readonly key: string }>(...viewer)).key;
      await makeEverything();
      await signInAtProvider();
    }, WITHIN_MS);

    afterAll(async () => {
      server.close();
      await receiver.close();
      await cleanUp();
    });

    function act<Facts>(...words: readonly string[]): Promise<Facts> {
      return admin<Facts>(product, { ...stores.settings.env, ...ALLOW }, ...words);
    }

    async function makeEverything(): Promise<void> {
      const { api } = product;
      const at = `http://${MARKS.user}:${MARKS.password}@127.0.0.1:${port}`;
      const fast = { interval: 1, timeout: 10, maxretries: 1 };
      const rest = `?token=${MARKS.query}#${MARKS.fragment}`;
      const settings = { server: `http://127.0.0.1:${port}`, topic: "alerts", token: MARKS.channel };
      expect((await api.post("/channels", { kind: "ntfy", name: "Phone", settings })).status).toBe(200);
      const make = (body: object): Promise<string> => createMonitor(api, { ...fast, ...body });
      const up = await make({ type: "http", name: "Up", url: `${at}/up${rest}` });
      const down = await make({ type: "http", name: "Down", url: `${at}/down${rest}` });
      const keyword = await make({ type: "keyword", name: "Keyword", url: `${at}/up${rest}`, keyword: "absent" });
      const away = await make({ type: "http", name: "Away", url: `${at}/away${rest}` });
      const refused = await make({
        type: "http",
        name: "Refused",
        url: `http://${MARKS.user}:${MARKS.password}@127.0.0.1:1/${rest}`,
      });
      const login = { host: "127.0.0.1", port: 9, username: "ada", password: MARKS.tunnel };
      await make({ name: "Login", protocol: "openconnect", ...login });
      await make({ name: "Link", url: `trojan://${MARKS.link}@127.0.0.1:9?security=tls#link` });
      await make({ type: "port", name: "Port", host: "127.0.0.1", port: 1 });
      await make({ type: "ping", name: "Ping", host: "127.0.0.1" });
      await make({ type: "dns", name: "Dns", host: "127.0.0.1", domain: "test-site.org" });
      await createMonitor(api, { type: "push", name: "Push", period: 60 });
      const list = { name: "Provider", url: `http://127.0.0.1:${port}/list/${MARKS.provider}?token=${MARKS.provider}` };
      expect((await api.post("/subscriptions", list)).status).toBe(200);
      await untilStatus(api, up, "healthy");
      for (const id of [down, keyword, away, refused]) await untilStatus(api, id, "down");
      await api.put(`/servers/${up}`, { url: `${at}/up${rest}x` });
      await api.put(`/servers/${up}`, { active: false });
      await eventually(async () => asked.some(({ path }) => path.startsWith("/list/")) || undefined, WITHIN_MS);
      await receiver.waitFor(4);
      await eventually(async () => messages().length > 0 || undefined, WITHIN_MS);
    }

    /** A sign-in that the provider refuses once it has the secret. */
    async function signInAtProvider(): Promise<void> {
      const address = `${product.url}/api/v1/session/oidc`;
      const begun = await fetch(address, { method: "POST", headers: { "x-sonde-page": "1" } });
      const { url } = (await begun.json()) as { readonly url: string };
      const query = `code=${MARKS.code}&state=${new URL(url).searchParams.get("state")}`;
      const cookie = begun.headers.get("set-cookie")?.split(";")[0] ?? "";
      const back = await fetch(`${address}?${query}`, { headers: { cookie }, redirect: "manual" });
      expect([back.status, back.headers.get("location")?.split("#")[1]]).toEqual([303, "/sign-in?failed=provider"]);
    }

    const messages = (): readonly Asked[] => asked.filter(({ path, body }) => body !== "" && path !== TOKEN_PATH);
    /** What acknowledges without a sign-in. */
    const links = (): readonly string[] =>
      messages().flatMap(({ body }) => [...body.matchAll(/\/ack\/([\w.~-]{20,})/g)].map(([, token]) => token ?? ""));

    /** Every GET of the document, with every id there is. */
    async function walk(key: string): Promise<Ways> {
      const fetchText = async (path: string): Promise<string> => {
        const headers = { "x-api-key": key, "x-project-id": "prj_1" };
        const answer = await fetch(`${product.url}${path}`, { headers });
        const isStream = answer.headers.get("content-type") === "text/event-stream";
        return isStream ? firstEventOf(answer) : answer.text();
      };
      const ways: Record<string, string> = {};
      const document = JSON.parse(await fetchText("/openapi.json")) as { paths: Record<string, object> };
      const idsOf = async (path: string, member: string): Promise<string[]> => {
        const rows = (JSON.parse(await fetchText(`/api/v1${path}`)) as Record<string, { id: string | number }[]>)[
          member
        ];
        return (rows ?? []).map(({ id }) => String(id));
      };
      const ids: Record<string, readonly string[]> = {
        servers: await idsOf("/servers?family=all", "servers"),
        incidents: await idsOf("/incidents", "incidents"),
        subscriptions: await idsOf("/subscriptions", "subscriptions"),
        channels: await idsOf("/channels", "channels"),
      };
      for (const [path, methods] of Object.entries(document.paths)) {
        if (!Object.hasOwn(methods, "get") || path.includes("token")) continue;
        const kind = Object.keys(ids).find((name) => path.includes(name)) ?? "servers";
        const paths = path.includes("{") ? (ids[kind] ?? []).map((id) => path.replace(/\{\w+\}/, id)) : [path];
        for (const one of paths) {
          const base = one.startsWith("/api/") ? one : `/api/v1${one}`;
          const query = /\/search$/.test(one)
            ? "?q=1"
            : /servers$/.test(one)
              ? "?family=all&explain=1"
              : "?explain=1&period=24h";
          ways[path] = `${ways[path] ?? ""}${await fetchText(base + query)}`;
        }
      }
      return ways;
    }

    async function say(...args: readonly string[]): Promise<string> {
      const env = {
        ...stores.settings.env,
        ...ALLOW,
        SONDE_URL: product.url,
        SONDE_KEY: viewerKey,
        SONDE_PROJECT: "1",
      };
      const { child, output } = await runSonde({ dataDir: product.dataDir, env, args });
      await ended(child, () => {});
      return output();
    }

    async function commandLine(): Promise<Ways> {
      const ways: Record<string, string> = {};
      for (const words of [
        ["monitors", "--json"],
        ["monitors"],
        ["incidents", "--json"],
        ["results", "--explain", "--failures"],
        ["results", "--json", "--limit", "1000"],
        ["admin", "webhook", "list", "--project", "prj_1", "--json"],
        ["admin", "webhook", "list", "--project", "prj_1"],
        ["admin", "webhook", "deliveries", "1", "--json"],
        ["admin", "channel", "list", "--project", "prj_1", "--json"],
        ["admin", "rule", "list", "--project", "prj_1", "--json"],
      ])
        ways[words.join(" ")] = await say(...words);
      return ways;
    }

    const marksOf = (text: string): readonly (Mark | "acknowledges")[] => [
      ...NAMES.filter((mark) => text.includes(MARKS[mark])),
      ...(links().some((token) => text.includes(token)) ? (["acknowledges"] as const) : []),
    ];
    const found = (ways: Ways): Record<string, readonly (Mark | "acknowledges")[]> =>
      Object.fromEntries(
        Object.entries(ways)
          .map(([place, text]) => [place, marksOf(text)] as const)
          .filter(([, marks]) => marks.length > 0),
      );

    it("secrets arrive where they belong", async () => {
      const login = `Basic ${Buffer.from(`${MARKS.user}:${MARKS.password}`).toString("base64")}`;
      expect(
        asked.filter(({ path }) => path === `/down?token=${MARKS.query}`).map(({ authorization }) => authorization),
      ).toContain(login);
      expect(asked.some(({ path }) => path === `/list/${MARKS.provider}?token=${MARKS.provider}`)).toBe(true);
      expect(asked.every(({ path }) => !path.includes(MARKS.fragment))).toBe(true);
      expect(messages().every(({ authorization }) => authorization === `Bearer ${MARKS.channel}`)).toBe(true);
      const token = asked.find(({ path }) => path === TOKEN_PATH);
      expect(`${atob(token?.authorization.replace("Basic ", "") ?? "")} ${token?.body}`).toMatch(
        new RegExp(`${MARKS.oidc}.*${MARKS.code}|${MARKS.code}.*${MARKS.oidc}`),
      );
      await eventually(async () => links().length > 0 || undefined, WITHIN_MS);
      expect(receiver.received.every(({ path }) => path === `/services/${MARKS.hook}?key=${MARKS.hook}`)).toBe(true);
    });

    it("none is told to a viewer, by any endpoint", async () => {
      const ways = await walk(viewerKey);
      expect(Object.keys(ways).length).toBeGreaterThan(12);
      expect(found(ways)).toEqual({});
    });

    it("those who may edit read the query of an address, and nothing else", async () => {
      const query: Mark[] = ["query"];
      const seen = found(await walk(product.key));
      expect(seen).toEqual({
        "/api/v1/servers": query,
        "/api/v1/servers/search": query,
        "/api/v1/servers/{id}": query,
      });
    });

    it("none is in what receivers get, but in the path that is their own", () => {
      const bodies = receiver.received.map(({ headers, body }) => JSON.stringify({ ...headers, body })).join("\n");
      expect(found({ bodies })).toEqual({});
      const told = messages()
        .map(({ body }) => body)
        .join("\n");
      expect(found({ told })).toEqual({ told: ["acknowledges"] });
    });

    it("none is printed by the command line", async () => {
      const ways = await commandLine();
      expect(Object.values(ways).every((text) => text.length > 0 && !text.startsWith("sonde:"))).toBe(true);
      expect(found(ways)).toEqual({});
    });

    it("none is in the log or the metrics", async () => {
      const headers = { authorization: `Bearer ${METRICS}` };
      const metrics = await (await fetch(`${product.url}/metrics`, { headers })).text();
      expect(metrics).toContain("sonde_checks_total");
      expect(found({ log: product.output(), metrics })).toEqual({});
    });

    it("files of the data folder are for their owner alone", () => {
      const entries = readdirSync(product.dataDir, { recursive: true, withFileTypes: true });
      const open = entries
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
      expect(entries.length).toBeGreaterThan(5);
      expect(open).toEqual([]);
    });

    it("none is in the stores or in the files of the data folder, while it runs and after its death", async () => {
      expect(found({ ...filesOf(product.dataDir), ...(await stores.dump()) })).toEqual({});
      await product.kill();
      expect(found({ ...filesOf(product.dataDir), ...(await stores.dump()) })).toEqual({});
    });
  });
}

async function answer(request: IncomingMessage, response: ServerResponse, asked: Asked[]): Promise<void> {
  const path = request.url ?? "/";
  const { authorization = "" } = request.headers;
  asked.push({ path, authorization, body: await text(request) });
  if (path === "/.well-known/openid-configuration") {
    response.setHeader("content-type", "application/json").end(JSON.stringify(providerAt(request.headers.host ?? "")));
  } else if (path === TOKEN_PATH) {
    response.writeHead(401, { "content-type": "application/json" }).end(JSON.stringify({ error: "invalid_client" }));
  } else if (path.startsWith("/away")) {
    const location = `ftp://${MARKS.location}:${MARKS.location}@127.0.0.1/a?b=${MARKS.location}`;
    response.writeHead(302, { location }).end();
  } else response.writeHead(path.startsWith("/down") || path.startsWith("/list") ? 500 : 200).end("all is well");
}

/** What a provider of identities says of itself (OpenID Connect Discovery section 3). */
function providerAt(host: string): object {
  const issuer = `http://${host}`;
  return {
    ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}${TOKEN_PATH}` },
    ...{ jwks_uri: `${issuer}/keys`, response_types_supported: ["code"], subject_types_supported: ["public"] },
    id_token_signing_alg_values_supported: ["RS256"],
  };
}

/** Bytes of every file, as Latin-1 text. */
function filesOf(folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    try {
      files[path.slice(folder.length)] = readFileSync(path, "latin1");
    } catch {
      // Merged away by ClickHouse while we looked.
    }
  }
  return files;
}

/** What a stream says first; it goes on by itself. */
async function firstEventOf(answer: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes("\n\n")) break;
  }
  return text;
}
