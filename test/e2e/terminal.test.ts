/** What a person at a terminal sees: the demo's live table, plain lines in a pipe, the client's tables; and foreign text kept harmless. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findCore } from "../../engine/cores/program.ts";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { CORE_PLACES } from "../lab/cores.ts";
import { createMonitor, type Product, productEnv, startProduct, untilStatus } from "../product.ts";
import { cleanUp, ended, eventually, runSonde } from "../service.ts";
import { startTcp, startWebsite, type TcpTarget, type Website } from "../targets.ts";
import { closeTerminals, openTerminal } from "../terminal.ts";

const SONDE = fileURLToPath(new URL("../../dist/cli/sonde.js", import.meta.url));
const run = promisify(execFile);
/** Names and kinds of the demo. */
const DEMO: Readonly<Record<string, string>> = {
  Branch: "ikev2",
  Campus: "openconnect",
  "Closed door": "http",
  "Data centre": "openvpn",
  "Expiring certificate": "http",
  "Flapping site": "http",
  "Hanging site": "http",
  Loopback: "ping",
  "Mail records": "dns",
  "Mail port": "port",
  "Mail server": "smtp",
  "Nightly job": "push",
  Office: "wireguard",
  "Old address": "http",
  "Own certificate": "http",
  Phone: "amneziawg",
  Queue: "http",
  Shop: "keyword",
  Website: "http",
  Zone: "dns",
};
/** Of its subscription. */
const LINKS: Readonly<Record<string, string>> = {
  Oslo: "vless",
  Paris: "vmess",
  Lima: "trojan",
  Cairo: "shadowsocks",
  Seoul: "hysteria2",
  Quito: "tuic",
};
const singBox = findCore("singbox", CORE_PLACES);
const WATCHED = { ...DEMO, ...(singBox !== undefined && LINKS) };
/** The flapping site's first failure comes after 20 s and lasts 14 s (demo/targets.ts); two checks at 2 s confirm. */
const FLAPPED_WITHIN_MS = 90_000;
const CLEAR = "\u001b[H\u001b[2J";
// biome-ignore lint/suspicious/noControlCharactersInRegex: what may not reach a terminal
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

afterAll(async () => {
  closeTerminals();
  await cleanUp();
});

async function demoEnv(): Promise<Record<string, string>> {
  return {
    PATH: process.env.PATH ?? "",
    TERM: "xterm-256color",
    SONDE_PORT: String(await freePort()),
    SONDE_DATA_DIR: join(temporaryFolder(), "data"),
    SONDE_CANARIES: "",
    ...(singBox !== undefined && { SONDE_SING_BOX: singBox.path }),
  };
}

interface Line {
  readonly kind: string;
  readonly status: string;
  readonly latency: string;
  readonly lateness: string;
  readonly checked: string;
  readonly incident: string;
}

/** Without the colours of statuses, the only escape codes that a table has. */
function colourless(text: string): string {
  return ["31", "33", "39"].reduce((rest, code) => rest.replaceAll(`\u001b[${code}m`, ""), text);
}

/** The table of one screen, by name. */
function tableOf(screen: string): ReadonlyMap<string, Line> {
  const lines = new Map<string, Line>();
  for (const text of colourless(screen).split(/\r?\n/)) {
    const cells = text.split("│").map((cell) => cell.trim());
    const [, id = "", name = "", kind = "", status = "", latency = "", lateness = "", checked = "", incident = ""] =
      cells;
    if (id.startsWith("srv_")) lines.set(name, { kind, status, latency, lateness, checked, incident });
  }
  return lines;
}

describe.concurrent("sonde up --demo", () => {
  it("draws a live table on a terminal, survives a resize, and drains on Ctrl-C", { timeout: 240_000 }, async () => {
    const env = await demoEnv();
    const terminal = openTerminal(process.execPath, [SONDE, "up", "--demo"], env);
    const screens = () => terminal.shown().split(CLEAR).slice(1);
    /** The latest whole table. */
    const table = () => tableOf(screens().at(-2) ?? "");
    await eventually(async () => (table().size === Object.keys(WATCHED).length ? true : undefined), 120_000);
    expect(Object.fromEntries([...table()].map(([name, { kind }]) => [name, kind]))).toEqual(WATCHED);

    const healthy = Object.keys(WATCHED).filter((name) => name !== "Hanging site");
    const seen = await eventually(async () => {
      const now = table();
      return healthy.every((name) => now.get(name)?.status === "healthy") ? now : undefined;
    });
    for (const name of healthy) {
      const { latency, lateness, checked } = seen.get(name) ?? {};
      // What is to fail has none.
      if (name !== "Closed door") expect(Number(latency), name).toBeGreaterThanOrEqual(0);
      expect(Number(lateness), name).toBeGreaterThanOrEqual(0);
      expect(checked, name).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    }
    terminal.resize(60, 12);
    const before = screens().length;
    await eventually(async () => (screens().length > before + 2 ? true : undefined));
    const narrow = colourless(screens().at(-2) ?? "").split(/\r?\n/);
    for (const line of narrow.filter((text) => /^[│┌└]/.test(text))) expect([...line]).toHaveLength(60);
    terminal.resize(200, 50);

    const flapping = () => table().get("Flapping site");
    await eventually(async () => (flapping()?.incident.includes("critical") ? true : undefined), FLAPPED_WITHIN_MS);
    expect(flapping()?.status).toBe("down");
    await eventually(
      async () => (flapping()?.status === "healthy" && flapping()?.incident === "" ? true : undefined),
      FLAPPED_WITHIN_MS,
    );
    await eventually(
      async () => (table().get("Hanging site")?.status === "down" ? true : undefined),
      FLAPPED_WITHIN_MS,
    );

    // Nothing but tables: no log line, no other escape code, whatever the width.
    for (const screen of screens().slice(0, -1))
      expect(colourless(screen).replaceAll("\r\n", "\n")).not.toMatch(CONTROL);
    terminal.type("\u0003");
    expect(await terminal.ended, terminal.shown().slice(-2_000)).toBe(0);
    expect(terminal.shown()).toContain("stopping: ");
    await expect(fetch(`http://127.0.0.1:${env.SONDE_PORT}/api/v1/health`)).rejects.toThrow();
  });

  it("prints plain lines into a pipe", { timeout: 120_000 }, async () => {
    const { SONDE_PORT, SONDE_DATA_DIR = "", ...env } = await demoEnv();
    const settings = { args: ["up", "--demo"], dataDir: SONDE_DATA_DIR, port: Number(SONDE_PORT), env };
    const { child, output } = await runSonde({ ...settings, env: { ...env, SONDE_LOG: "error" } });
    for (const [name, kind] of Object.entries(WATCHED)) {
      if (name === "Hanging site") continue;
      const line = new RegExp(
        `^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d  ${name} \\(${kind}\\): healthy${name === "Closed door" ? "," : " in"} \\d+ ms`,
        "m",
      );
      await eventually(async () => (line.test(output()) ? true : undefined), 60_000);
    }
    expect(await ended(child, () => child.kill("SIGINT"))).toBe(0);
    expect(output()).not.toMatch(CONTROL);
  });

  it("asks before it uses the data of a service, and takes its monitors away again", { timeout: 120_000 }, async () => {
    const own = await startProduct();
    await createMonitor(own.api, { type: "push", name: "Mine", period: 60 });
    expect(await own.stop()).toBe(0);
    const env = { ...(await demoEnv()), SONDE_DATA_DIR: own.dataDir };

    const { child, output } = await runSonde({ args: ["up", "--demo"], dataDir: own.dataDir, env });
    expect(await ended(child, () => {})).toBe(1);
    expect(output()).toMatch(/^sonde: the demo does not use the data folder .*SONDE_DATA_DIR to a new folder\n$/);

    const question = "which has the data of a service for them? [y/N] ";
    const refused = openTerminal(process.execPath, [SONDE, "up", "--demo"], env);
    await eventually(async () => (refused.shown().includes(question) ? true : undefined), 60_000);
    refused.type("n\r");
    expect(await refused.ended).toBe(1);

    const allowed = openTerminal(process.execPath, [SONDE, "up", "--demo"], env);
    await eventually(async () => (allowed.shown().includes(question) ? true : undefined), 60_000);
    allowed.type("y\r");
    const names = () => [...tableOf(allowed.shown().split(CLEAR).at(-2) ?? "").keys()];
    await eventually(async () => (names().length > Object.keys(WATCHED).length ? true : undefined), 60_000);
    expect(names()).toContain("Mine");
    allowed.type("\u0003");
    expect(await allowed.ended).toBe(0);

    const again = await startProduct({ dataDir: own.dataDir });
    const { body } = await again.api.get<{ servers: readonly { name: string }[] }>("/servers?family=all");
    expect(body.servers.map(({ name }) => name)).toEqual(["Mine"]);
    expect(await again.stop()).toBe(0);
  });
});

describe("the client's commands", () => {
  /** Clears the screen, goes home, rings, sets the title, turns the reading order, breaks the line. */
  const EVIL = "Evil \u001b[2J\u001b[H\u0007\u001b]0;title\u0007\u009b31m\u202egnp\u2066\r\n\tname";
  let product: Product;
  let site: Website;
  let rude: TcpTarget;
  let evilId: string;
  let goodId: string;

  beforeAll(async () => {
    site = await startWebsite();
    // Its words reach the explanation of a failure.
    rude = await startTcp((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 500 \u009b31mred alert\r\nContent-Length: 0\r\n\r\n", "latin1")),
    );
    product = await startProduct();
    const often = { interval: 1, timeout: 10, maxretries: 1 };
    goodId = await createMonitor(product.api, { type: "http", name: "Good", url: site.url, ...often });
    const created = await product.api.post("/servers", {
      ...{ type: "http", name: EVIL, url: `http://127.0.0.1:${rude.port}/`, ...often },
    });
    expect(created.status).toBe(200);
    evilId = String(created.body.id);
    await untilStatus(product.api, goodId, "healthy");
    await untilStatus(product.api, evilId, "down");
    await eventually(async () => {
      const { body } = await product.api.get<{ results: unknown[] }>("/results/failures");
      return JSON.stringify(body).includes(evilId) ? true : undefined;
    });
    await eventually(async () => {
      const { body } = await product.api.get<{ total: number }>(`/results/server/${goodId}`);
      return body.total >= 3 ? true : undefined;
    });
  });
  afterAll(async () => {
    await Promise.all([site.close(), rude.close()]);
  });

  const env = () => ({
    ...productEnv(),
    PATH: process.env.PATH ?? "",
    SONDE_URL: product.url,
    SONDE_DATA_DIR: product.dataDir,
  });
  const sonde = (...words: readonly string[]) => run(process.execPath, [SONDE, ...words], { env: env() });
  const json = async <Body>(...words: readonly string[]) =>
    JSON.parse((await sonde(...words, "--json")).stdout) as Body;

  it("list monitors, results and incidents", { timeout: 60_000 }, async () => {
    const monitors = tableOf((await sonde("monitors")).stdout);
    expect(monitors.get("Good")).toMatchObject({ kind: "http", status: "healthy", incident: "" });
    expect([...monitors.values()].map(({ status }) => status).sort()).toEqual(["down", "healthy"]);
    expect((await sonde("monitors", "--status", "down")).stdout).not.toContain("Good");

    const { stdout: results } = await sonde("results", goodId, "--limit", "3");
    expect(results.match(/srv_/g)).toHaveLength(3);
    const { stdout: why } = await sonde("results", "--failures", "--explain", "--limit", "1");
    for (const words of [
      evilId,
      /^ {2}verdict +rejected$/m,
      /^ {2}stage +/m,
      /^ {2}address +127\.0\.0\.1:/m,
      /^ {2}phases +/m,
    ]) {
      expect(why).toMatch(words);
    }
    const { stdout: incidents } = await sonde("incidents", "--status", "active");
    expect(incidents).toMatch(/inc_\d+ .*critical/);
  });

  it("print the API's own JSON", { timeout: 60_000 }, async () => {
    const { servers } = await json<{ servers: { id: string; name: string }[] }>("monitors");
    expect(servers.map(({ id }) => id).sort()).toEqual([goodId, evilId].sort());
    const { results } = await json<{ results: { server_id: string; explain?: unknown }[] }>(
      "results",
      goodId,
      "--explain",
    );
    expect(results[0]).toMatchObject({ server_id: goodId, explain: { verdict: "ok" } });
    expect(await json("incidents")).toMatchObject({ total: 1, active: 1 });
  });

  it("show one monitor, and acknowledge its incident", { timeout: 60_000 }, async () => {
    const { stdout: good } = await sonde("show", goodId);
    expect(good).toMatch(new RegExp(`^${goodId}  Good  http  healthy$`, "m"));
    expect(good).toMatch(/^ {2}latency +[▁-█]+ {2}\d+ ms$/m);
    const { stdout: evil } = await sonde("show", evilId);
    expect(evil).toMatch(/^ {2}why +Answered with status 500/m);
    const [, incident = ""] = /not seen yet: sonde ack (inc_\d+)$/m.exec(evil) ?? [];
    expect((await sonde("ack", incident, "--note", "known")).stdout).toMatch(/^inc_\d+ {2}Evil .*: seen \(active\)\n$/);
    expect((await sonde("show", evilId)).stdout).toMatch(/^ {2}incident +.*, seen$/m);
    expect(await json("show", goodId)).toMatchObject({ id: goodId, url: site.url });
  });

  it("add, change, pause, resume and delete what is watched", { timeout: 120_000 }, async () => {
    const added = async (...words: readonly string[]) =>
      (await json<{ id: string; name: string; heartbeat_url?: string }>("add", ...words)) as Readonly<
        Record<string, unknown>
      >;
    const web = await added(site.url, "--interval", "7", "--tags", "a,b");
    expect(web).toMatchObject({ type: "http", name: "127.0.0.1", interval: 7, tags: ["a", "b"] });
    const id = String(web.id);
    const link = "vless://5ec2e700-1111-4222-8333-444455556666@127.0.0.1:9#Berlin";
    // No core is found in an empty folder and an empty PATH.
    const { stdout, stderr } = await run(process.execPath, [SONDE, "add", link, "--name", "Mine"], {
      env: { ...env(), PATH: "", SONDE_KEY: product.key, SONDE_DATA_DIR: temporaryFolder() },
    });
    expect(stdout).toMatch(/^srv_\d+ {2}Mine \(vless\), every \d+ s: sonde show srv_\d+\n$/);
    expect(stderr).toMatch(/^No xray and no sing-box is here .*sonde cores install/);
    const [vpn = ""] = /^srv_\d+/.exec(stdout) ?? [];
    const job = await added("--kind", "push", "--name", "Job", "--set", "period=60");
    expect(job).toMatchObject({ type: "push", heartbeat_url: expect.stringContaining("/api/push/") });

    expect((await sonde("set", id, "name=Front page", "interval=9")).stdout).toBe(
      `${id}  Front page: name, interval changed\n`,
    );
    const half = await sonde("set", id, "intervall=9", "status=up", "interval=9").catch((error: unknown) => error);
    expect(half).toMatchObject({ code: 1, stdout: `${id}  Front page: interval changed\n` });
    expect(half).toMatchObject({ stderr: expect.stringContaining('unknown field "intervall" was ignored') });
    expect((await sonde("pause", id, vpn)).stdout).toMatch(/: paused\n.*: paused\n$/);
    expect(await json("show", id)).toMatchObject({ name: "Front page", interval: 9, active: false, status: "paused" });
    expect(await json("resume", id)).toMatchObject({ active: true });
    const refused = await sonde("rm", id).catch((error: unknown) => error as { code: number; stderr: string });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--yes") });
    const gone = await sonde("rm", id, vpn, "srv_999999", String(job.id), "--yes").catch((error: unknown) => error);
    expect(gone).toMatchObject({ code: 1, stdout: `${id}  deleted\n${vpn}  deleted\n${job.id}  deleted\n` });
    expect(gone).toMatchObject({
      stderr: expect.stringMatching(/^sonde: srv_999999: there is no such monitor: .*\n$/),
    });
  });

  it("end without a word when who reads has enough", async () => {
    const script = `{ "${process.execPath}" "${SONDE}" schema; echo $? >&2; } | true`;
    expect((await run("/bin/sh", ["-c", script])).stderr).toBe("141\n");
  });

  it("plan maintenance, list it and end it", { timeout: 60_000 }, async () => {
    const { maintenances } = await json<{ maintenances: { id: string; state: string }[] }>(
      ...["maintenance", "add", goodId, "--minutes", "5"],
    );
    const [made] = maintenances;
    expect(made).toMatchObject({ server_id: goodId, state: "active" });
    expect((await sonde("maintenance", "list")).stdout).toMatch(new RegExp(`${made?.id}.*${goodId}.*Good.*active`));
    expect((await sonde("show", goodId)).stdout).toMatch(/^ {2}maintenance +\S+ to \S+$/m);
    expect((await sonde("maintenance", "end", String(made?.id))).stdout).toBe(`${made?.id}  Good: ended\n`);
    expect(await json("maintenance", "list")).toEqual({ maintenances: [], total: 0, schedules: [] });
    const [none, open] = await Promise.all(
      [
        ["maintenance", "add", "--minutes", "5"],
        ["maintenance", "add", goodId],
      ].map((words) => sonde(...words).catch((error: unknown) => error)),
    );
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("--tag") });
    expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining("--until") });
  });

  it("add a subscription where a list is behind the address", { timeout: 60_000 }, async () => {
    const list = await startWebsite();
    list.answer(200, "vless://5ec2e700-1111-4222-8333-444455556666@127.0.0.1:9#Berlin\n");
    const { id, name } = await json<{ id: number; name: string }>(
      "add",
      list.url,
      "--name",
      "Provider",
      "--interval",
      "3600",
    );
    expect(name).toBe("Provider");
    expect((await product.api.get(`/subscriptions/${id}`)).body).toMatchObject({ syncIntervalSec: 3_600 });
    expect((await product.api.remove(`/subscriptions/${id}`)).status).toBe(200);
    await list.close();
  });

  it.each([
    [80, {}, true],
    [60, { NO_COLOR: "1" }, false],
  ])(
    "fit %i columns, with the status in colour where it is wanted",
    { timeout: 60_000 },
    async (columns, over, isRed) => {
      const given = { ...env(), TERM: "xterm-256color", ...over };
      const terminal = openTerminal(process.execPath, [SONDE, "monitors"], given, { columns, rows: 30 });
      expect(await terminal.ended).toBe(0);
      const shown = terminal.shown();
      expect(shown.includes("\u001b[31mdown\u001b[39m")).toBe(isRed);
      const lines = colourless(shown)
        .split(/\r?\n/)
        .filter((line) => line !== "");
      for (const line of lines) expect([...line].length).toBeLessThanOrEqual(columns);
      // Of 60 columns the line of latencies is left out.
      expect(/Good .*healthy.*[▁-█]{3}/.test(lines.join("\n"))).toBe(columns === 80);
    },
  );

  it("find a service that listens on IPv6, or on every address", { timeout: 120_000 }, async () => {
    for (const host of ["::1", "::"]) {
      const there = await startProduct({ env: { SONDE_HOST: host } });
      const { SONDE_URL: _, ...settings } = env();
      const given = { ...settings, SONDE_HOST: host, SONDE_PORT: String(there.port), SONDE_DATA_DIR: there.dataDir };
      const { stdout } = await run(process.execPath, [SONDE, "monitors", "--json"], { env: given });
      expect(JSON.parse(stdout)).toMatchObject({ total: 0 });
      expect(there.output().includes("It listens on every address of this machine")).toBe(host === "::");
      expect(await there.stop()).toBe(0);
    }
  });

  it.each(["monitors", "results", "results --failures --explain", "incidents", "show EVIL"])(
    "show foreign text that cannot move the cursor: %s",
    { timeout: 60_000 },
    async (words) => {
      const terminal = openTerminal(process.execPath, [SONDE, ...words.replace("EVIL", evilId).split(" ")], env());
      expect(await terminal.ended).toBe(0);
      const shown = colourless(terminal.shown()).replaceAll("\r\n", "\n");
      expect(shown).toContain("Evil ");
      expect(shown).not.toMatch(CONTROL);
      expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
      // One line each: a line break in a name makes no row.
      expect(shown).not.toMatch(/^\s*name/m);
    },
  );

  it("say when there is nothing to list", { timeout: 60_000 }, async () => {
    const fresh = await startProduct();
    const given = { ...env(), SONDE_URL: fresh.url, SONDE_KEY: fresh.key };
    const lists: readonly (readonly [words: string, said: string])[] = [
      ["monitors", "No monitors yet: sonde add --help shows how to add one\n"],
      ["monitors --status down", "No such monitors\n"],
      ["results", "No results in the last 1h: --period 7d shows older ones\n"],
      ["results --failures --explain", "No failures in the last 1h: --period 7d shows older ones\n"],
      ["incidents --status active", "No active incidents\n"],
      ["maintenance list", "No maintenance is on or planned\n"],
    ];
    for (const [words, said] of lists) {
      const { stdout } = await run(process.execPath, [SONDE, ...words.split(" ")], { env: given });
      expect(stdout, words).toBe(said);
    }
    await fresh.stop();
  });

  it("say in one line what is wrong, with exit code 1", { timeout: 60_000 }, async () => {
    const failures: readonly (readonly [words: readonly string[], env: Record<string, string>, message: RegExp])[] = [
      [
        ["monitors"],
        { SONDE_URL: `http://127.0.0.1:${await freePort()}` },
        /^sonde: no answer from http:\/\/127\.0\.0\.1:\d+ \(nothing listens there\)/,
      ],
      [["monitors", "--key", "uk1_wrong"], {}, /^sonde: Invalid or expired API key: give another one/],
      [["results", "srv_999"], {}, /^sonde: there is no such monitor: sonde monitors lists them/],
      [["results", "--period", "2h"], {}, /^sonde: period must be/],
      [["add", "10.9.8.7:22"], {}, /^sonde: 10\.9\.8\.7 cannot be monitored: .*SONDE_ALLOW_NETS\n$/],
      [["monitors"], { SONDE_DATA_DIR: temporaryFolder() }, /^sonde: no key: /],
      [["add", "--kind", "push"], {}, /^sonde: period is missing or cannot be used: --set period=…\n$/],
      [["backup", "--out", "/nowhere/sonde.tar.gz"], {}, /^sonde: cannot write into \/nowhere \(ENOENT\): .*--out\n$/],
      [["restore", "x.tar.gz", "--key", "/nowhere/key"], {}, /^sonde: --key: cannot read \/nowhere\/key \(ENOENT\)\n$/],
      [
        ["move", "--to", "servers"],
        {},
        /: set SONDE_DATABASE_URL, SONDE_REDIS_URL, SONDE_CLICKHOUSE_URL, SONDE_SEALING_KEY_FILE\n$/,
      ],
    ];
    for (const [words, over, message] of failures) {
      const failure = (await run(process.execPath, [SONDE, ...words], { env: { ...env(), ...over } }).catch(
        (error: unknown) => error,
      )) as { code?: number; stderr: string; stdout: string };
      expect(failure.code, words.join(" ")).toBe(1);
      expect(failure.stderr).toMatch(message);
      expect(failure.stderr.trim().split("\n")).toHaveLength(1);
      expect(failure.stdout).toBe("");
    }
  });
});
