/**
 * Channels against the real servers: what they take, and what their readers get. Run by hand, because no registry has these servers
 * (docs/develop/tests.md): NTFY and GOTIFY name the programs, APPRISE the folder of Apprise API with a Python that has its packages,
 * SYNAPSE a Python that has matrix-synapse.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Message } from "../../model/alert-message.ts";
import { attemptsHere } from "../../scheduler/alerts/attempts/attempts.ts";
import { HOSTILE_NAMES, hostile, MESSAGE } from "../../scheduler/alerts/channels/messages.suite.ts";
import { createSendToChannel } from "../../scheduler/alerts/channels/send.ts";
import { CONTEXT } from "../../scheduler/alerts/channels/services.suite.ts";
import { openReceiver } from "../../scheduler/webhooks/receivers.suite.ts";
import { freePort } from "../../testkit/free-port.ts";
import { type ServerProcess, startServer, untilReady } from "../servers/server.ts";

const { NTFY = "", GOTIFY = "", APPRISE = "", SYNAPSE = "" } = process.env;
const NEVER = new AbortController().signal;
const ENGINE = { allowNets: ["127.0.0.0/8"], publicAllowNets: [], ownEndpoints: [], resolvers: [], extraCaPem: null };
const send = createSendToChannel({
  attempts: attemptsHere({ ...ENGINE, rdapBootstrapUrl: null, canaries: null }),
  mail: { smtpUrl: null, from: null },
  version: "test",
  clocks: { monotonicNowMs: () => performance.now() },
});
const folder = mkdtempSync(join(tmpdir(), "sonde-real-services-"));
const undo: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of undo) await end();
  rmSync(folder, { recursive: true, force: true });
});

/** What readers got, oldest first. */
interface Reading {
  readonly kind: string;
  readonly settings: Readonly<Record<string, unknown>>;
  read(): Promise<readonly { readonly title: string; readonly text: string }[]>;
  /** Settings with a wrong key. */
  readonly wrong: Readonly<Record<string, unknown>>;
}

async function asked(url: string, init: RequestInit = {}): Promise<unknown> {
  const answer = await fetch(url, init);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

const jsonOf = (body: unknown, more: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...more },
  body: JSON.stringify(body),
});

async function running(program: string, args: readonly string[], cwd: string, url: string): Promise<ServerProcess> {
  const server = startServer(program, args, { cwd });
  undo.push(() => server.stop("SIGKILL"));
  await untilReady(server, async () => expect((await fetch(url)).status).toBeLessThan(500), 60_000);
  return server;
}

async function startNtfy(): Promise<Reading> {
  const [port, auth] = [await freePort(), join(folder, "ntfy-users.db")];
  const url = `http://127.0.0.1:${port}`;
  const where = [`--auth-file=${auth}`, "--auth-default-access=deny-all"];
  const args = [`--listen-http=127.0.0.1:${port}`, `--base-url=${url}`, `--cache-file=${join(folder, "ntfy.db")}`];
  await running(NTFY, ["serve", ...args, ...where, "--visitor-request-limit-burst=1000"], folder, `${url}/v1/health`);
  const env = { ...process.env, NTFY_PASSWORD: "correct horse" };
  execFileSync(NTFY, ["user", ...where, "add", "--role=admin", "ada"], { env, stdio: "pipe" });
  const basic = `Basic ${Buffer.from("ada:correct horse").toString("base64")}`;
  const { token } = (await asked(`${url}/v1/account/token`, jsonOf({}, { authorization: basic }))) as { token: string };
  return {
    kind: "ntfy",
    settings: { server: url, topic: "sonde", token },
    wrong: { server: url, topic: "sonde", token: "tk_other" },
    async read() {
      const answer = await fetch(`${url}/sonde/json?poll=1&since=all`, { headers: { authorization: basic } });
      const lines = (await answer.text()).split("\n").filter((line) => line !== "");
      return lines.map((line) => {
        const { title, message } = JSON.parse(line) as { title: string; message: string };
        return { title, text: message };
      });
    },
  };
}

async function startGotify(): Promise<Reading> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const lines = ["GOTIFY_SERVER_LISTENADDR=127.0.0.1", `GOTIFY_SERVER_PORT=${port}`, "GOTIFY_DEFAULTUSER_PASS=admin"];
  await running("env", [...lines, GOTIFY], folder, `${url}/health`);
  const authorization = `Basic ${Buffer.from("admin:admin").toString("base64")}`;
  const application = await asked(`${url}/application`, jsonOf({ name: "Sonde" }, { authorization }));
  const { id, token } = application as { readonly id: number; readonly token: string };
  return {
    kind: "gotify",
    settings: { server: url, token },
    wrong: { server: url, token: "other" },
    async read() {
      const all = await asked(`${url}/application/${id}/message?limit=200`, { headers: { authorization } });
      const { messages } = all as {
        readonly messages: readonly { readonly title: string; readonly message: string }[];
      };
      return messages.toReversed().map(({ title, message }) => ({ title, text: message }));
    },
  };
}

/** Apprise tells a receiver of ours, in the JSON that it has for that. */
async function startApprise(): Promise<Reading> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const python = join(APPRISE, "../venv/bin/python");
  mkdirSync(join(folder, "apprise"));
  const place = [`APPRISE_CONFIG_DIR=${join(folder, "apprise")}`, `APPRISE_ATTACH_DIR=${join(folder, "apprise")}`];
  const words = ["manage.py", "runserver", "--noreload", `127.0.0.1:${port}`];
  await running(
    "env",
    [...place, "LOG_LEVEL=warning", python, ...words],
    join(APPRISE, "apprise_api"),
    `${url}/status`,
  );
  const receiver = await openReceiver();
  undo.push(() => receiver.close());
  return {
    kind: "apprise",
    settings: { server: url, urls: [`json://127.0.0.1:${receiver.port}/`] },
    wrong: { server: url, key: "other" },
    async read() {
      return receiver.received.map(({ body }) => {
        const { title, message } = JSON.parse(body) as { readonly title: string; readonly message: string };
        return { title, text: message };
      });
    },
  };
}

async function startSynapse(): Promise<Reading> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const [config, signing] = [join(folder, "synapse.yaml"), join(folder, "signing.key")];
  const logs = join(folder, "log.yaml");
  writeFileSync(logs, "version: 1\nroot: { level: WARNING }\n");
  const lines = [
    "server_name: matrix.test",
    `listeners: [{ port: ${port}, bind_addresses: ["127.0.0.1"], type: http, resources: [{ names: [client] }] }]`,
    `database: { name: sqlite3, args: { database: ${join(folder, "synapse.db")} } }`,
    `log_config: ${logs}`,
    `media_store_path: ${join(folder, "media")}`,
    "enable_registration: true",
    "enable_registration_without_verification: true",
    "report_stats: false",
    `signing_key_path: ${signing}`,
    "trusted_key_servers: []",
    "rc_message: { per_second: 1000, burst_count: 1000 }",
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  const app = ["-m", "synapse.app.homeserver", "-c", config];
  execFileSync(SYNAPSE, [...app, "--generate-keys"], { cwd: folder, stdio: "pipe" });
  const api = `${url}/_matrix/client/v3`;
  await running(SYNAPSE, app, folder, `${url}/_matrix/client/versions`);
  const account = { username: "sonde", password: "correct horse", auth: { type: "m.login.dummy" } };
  const { access_token } = (await asked(`${api}/register`, jsonOf(account))) as { readonly access_token: string };
  const authorization = `Bearer ${access_token}`;
  const { room_id: room } = (await asked(`${api}/createRoom`, jsonOf({}, { authorization }))) as { room_id: string };
  return {
    kind: "matrix",
    settings: { homeserver: url, room, access_token },
    wrong: { homeserver: url, room, access_token: "other" },
    async read() {
      const path = `${api}/rooms/${encodeURIComponent(room)}/messages?dir=f&limit=200`;
      const { chunk } = (await asked(path, { headers: { authorization } })) as {
        readonly chunk: readonly { readonly type: string; readonly content: { readonly body: string } }[];
      };
      const said = chunk.filter(({ type }) => type === "m.room.message").map(({ content }) => content.body);
      return said.map((body) => ({ title: body.split("\n", 1)[0] ?? "", text: body }));
    },
  };
}

const RECOVERED: Message = {
  ...MESSAGE,
  reason: "recovered",
  severity: "ok",
  title: "Berlin 3 works again",
  items: [],
};

describe.each([
  ["ntfy", NTFY, startNtfy],
  ["Gotify", GOTIFY, startGotify],
  ["Apprise API", APPRISE, startApprise],
  ["Synapse", SYNAPSE, startSynapse],
] as const)("%s", (name, place, start) => {
  it.runIf(place !== "")("takes every message, shows names as they are, and refuses a wrong key", async () => {
    const { kind, settings, wrong, read } = await start();
    const tell = (message: Message, n: number, where = settings) =>
      send({ kind, settings: { ...where } }, message, { ...CONTEXT, notificationId: `${n}` }, NEVER);
    expect(await tell(MESSAGE, 1)).toMatchObject({ delivered: true });
    expect(await tell(RECOVERED, 2)).toMatchObject({ delivered: true });
    for (const [index, one] of HOSTILE_NAMES.entries())
      expect(await tell(hostile(one), 10 + index), one.slice(0, 40)).toMatchObject({ delivered: true });
    const refused = await tell(MESSAGE, 100, wrong);
    expect(refused).toMatchObject({ delivered: false });
    const got = await read();
    console.info(`${name}: ${got.length} messages arrived, the first as\n${JSON.stringify(got[0], null, 2)}`);
    console.info(`${name} to a wrong key: ${refused.delivered ? "" : refused.error}`);
    expect(got).toHaveLength(2 + HOSTILE_NAMES.length);
    expect(got[0]?.title).toContain("Berlin 3 is down");
    expect(got[0]?.text).toContain("nothing comes back through the tunnel (de, nl)");
    expect(got[1]?.title).toContain("Berlin 3 works again");
    expect(got[2]?.title).toContain("@everyone @here @channel");
    expect(got[3]?.title).toContain("</script><script>alert(1)</script>");
    expect(got[4]?.title).toContain("*x* _y_ ~z~ `c`");
  });
});

it("is asked for at least one server", () => {
  expect([NTFY, GOTIFY, APPRISE, SYNAPSE].join("")).not.toBe("");
});
