/**
 * The units of docs/operate/systemd under a real systemd, as its user and with all their hardening: everything in one process, and the
 * roles apart; what each exports is what the board asks for.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { afterAll, expect, it } from "vitest";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { admin } from "../admin.ts";
import { clientOf } from "../client.ts";
import { type Aims, buildTakenOver, linkOf, listenAt, type Report, reachedOf, setuidCopy } from "../lab/taken-over.ts";
import { describeWith } from "../prerequisites.ts";
import { createMonitor, productEnv, untilStatus } from "../product.ts";
import type { LocationFacts, SharedStores } from "../roles.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startShared } from "../servers/shared.ts";
import { cleanUp, eventually } from "../service.ts";
import { type Systemd, startSystemd } from "../systemd.ts";
import { startWebsite, type Website } from "../targets.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const OPERATIONS = join(ROOT, "docs/operate");
const BRIDGE = fileURLToPath(new URL("../fixtures/bridge.mjs", import.meta.url));
/** Of root; systemd reads it for the units. */
const SEALING_KEY = "/etc/sonde/sealing.key";
const WITHIN_MS = 120_000;
/** Outside and inside: what a core is once its server has taken it over. */
const BUILT = join(ROOT, "node_modules/.cache/taken-over");
const IN_UNITS = "/opt/sonde/node_modules/.cache/taken-over/taken-over";
/** Where the units listen. */
const INSIDE = { up: 8080, api: 8081, scheduler: 9464, checker: 9465 } as const;

const shared = await startShared();
afterAll(async () => {
  await cleanUp();
  if (!isMissing(shared)) await shared.stop();
});

/** Of a unit that must run. */
async function untilActive(systemd: Systemd, unit: string, banner: RegExp): Promise<void> {
  await eventually(async () => {
    const state = systemd.property(unit, "ActiveState");
    if (state === "failed" || Number(systemd.property(unit, "NRestarts")) > 0) {
      throw new Error(`${unit} is ${state}: ${systemd.output(unit)}`);
    }
    return banner.test(systemd.output(unit)) || undefined;
  }, WITHIN_MS);
}

function settings(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

withServer("the units", shared, ({ stores }) =>
  describeWith(
    ["root", "systemd", "unshare", "setpriv", "network namespaces", "go"],
    "under a systemd of their own",
    () => {
      it("run, check, and stop; what they export is all that the board asks for", {
        timeout: 3 * WITHIN_MS,
      }, async () => {
        const at = await stores();
        mkdirSync(BUILT, { recursive: true });
        setuidCopy(await buildTakenOver(BUILT));
        const site = await startWebsite();
        const folder = temporaryFolder();
        const reports = await freePort();
        const ports = [...portsOf(at, site), reports];
        const bridge = writeBridge(folder, ports);
        const systemd = await startSystemd([join(OPERATIONS, "systemd"), bridge], ROOT);
        try {
          systemd.systemctl("start", "bridge.service");
          const outside = await openBridge(folder, ports);
          try {
            const common = commonOf(systemd);
            await withoutKeyFile(systemd, { ...common, SONDE_SING_BOX: IN_UNITS });
            giveToRoot(systemd, SEALING_KEY, randomBytes(32));
            expect(() => systemd.systemctl("start", "reads-key.service")).toThrow();
            expect(systemd.output("reads-key.service")).toContain("Permission denied");
            await everythingInOne(systemd, outside.up, { ...common, SONDE_SING_BOX: IN_UNITS }, site, reports);
            await rolesApart(systemd, outside, at, common, site);
          } finally {
            outside.close();
          }
        } finally {
          await systemd.stop();
          await site.close();
        }
      });
    },
  ),
);

type Settings = Readonly<Record<string, string>>;
type UnitPaths = Readonly<Record<keyof typeof INSIDE, string>>;

async function everythingInOne(
  systemd: Systemd,
  url: string,
  common: Settings,
  site: Website,
  reports: number,
): Promise<void> {
  writeFileSync(systemd.file("/etc/sonde/sonde.env"), settings(common));
  systemd.systemctl("start", "sonde.service");
  await untilActive(systemd, "sonde.service", /Sonde listens on/);
  const state = readdirSync(systemd.file("/var/lib/sonde"));
  expect([state.includes("control.sqlite"), state.includes("sealing.key")]).toEqual([true, false]);
  const key = readFileSync(systemd.file("/var/lib/sonde/owner.key"), "utf8").trim();
  await checksWebsite(url, key, site);
  await reachesNothing(url, key, reports, () => systemd.output("sonde.service"));
  // What holds them less than wholly is warned of.
  const warned = systemd.output("sonde.service").match(/"msg":"cores: [^"]*"/g) ?? [];
  expect([...new Set(warned)]).toEqual(['"msg":"cores: a core was refused what none of its configs names"']);
  stopped(systemd, "sonde.service");
}

/** As on most machines: Sonde makes its own key. Leaves no trace. */
async function withoutKeyFile(systemd: Systemd, common: Settings): Promise<void> {
  writeFileSync(systemd.file("/etc/sonde/sonde.env"), settings(common));
  systemd.systemctl("start", "sonde.service");
  await untilActive(systemd, "sonde.service", /Sonde listens on/);
  const state = systemd.file("/var/lib/sonde");
  expect(readFileSync(join(state, "sealing.key"))).toHaveLength(32);
  stopped(systemd, "sonde.service");
  for (const name of readdirSync(state)) rmSync(join(state, name), { recursive: true });
  rmSync(systemd.file("/run/said/sonde.service"));
}

/** A core that its server has taken over. */
async function reachesNothing(url: string, key: string, reports: number, said: () => string): Promise<void> {
  const file = (name: string): string => `/var/lib/sonde/${name}`;
  const aims: Aims = {
    files: {
      "sealing key": SEALING_KEY,
      "its copy": "/run/credentials/sonde.service/sealing.key",
      database: file("control.sqlite"),
      "owner key": file("owner.key"),
      settings: "/etc/sonde/sonde.env",
      "/etc/passwd": "/etc/passwd",
    },
    folders: { "data folder": "/var/lib/sonde", "/tmp": "/tmp", "/dev/shm": "/dev/shm" },
    ports: { "our API": INSIDE.up },
    datagrams: INSIDE.up,
    unix: "/run/systemd/private",
    setuid: `${IN_UNITS}-setuid`,
  };
  const reportOf = async (link: string): Promise<Report> => {
    const { line, server } = await listenAt(reports);
    const asked = clientOf(url, key).post("/check", { config: link, engine: "singbox" });
    const silent = asked.then(({ body }) => Promise.reject(new Error(`no report: ${JSON.stringify(body)} ${said()}`)));
    const report = JSON.parse(await Promise.race([line, silent])) as Report;
    silent.catch(() => undefined);
    server.close();
    return report;
  };
  const report = await reportOf(linkOf(reports, aims));
  expect(Object.keys(report).length).toBeGreaterThan(25);
  expect(reachedOf(report), JSON.stringify(report)).toEqual([]);
  // The server's port at other addresses, and another port of the server.
  const elsewhere = await reportOf(linkOf(reports, { elsewhere: { hosts: ["127.0.0.2", "::1"], port: INSIDE.up } }));
  expect(reachedOf(elsewhere), JSON.stringify(elsewhere)).toEqual([]);
  const direct = Object.entries(elsewhere).filter(([name]) => name.startsWith("connect to "));
  expect(direct.map(([, how]) => how)).toEqual(["permission denied", "permission denied", "permission denied"]);
}

async function rolesApart(systemd: Systemd, urls: UnitPaths, at: SharedStores, common: Settings, site: Website) {
  const keyFile = join(temporaryFolder(), "sealing.key");
  writeFileSync(keyFile, readFileSync(systemd.file(SEALING_KEY)), { mode: 0o600 });
  const servers = {
    SONDE_DATABASE_URL: at.databaseUrl,
    SONDE_REDIS_URL: at.redisUrl,
    SONDE_CLICKHOUSE_URL: at.clickhouseUrl,
  };
  // The board has panels of single monitors, too.
  const shared = settings({ ...common, ...servers, SONDE_MONITOR_METRICS: "10" });
  writeFileSync(systemd.file("/etc/sonde/stores.env"), shared, { mode: 0o600 });
  systemd.systemctl("start", "sonde-api@8081.service");
  await untilActive(systemd, "sonde-api@8081.service", /Sonde listens on/);
  const words = ["location", "add", "any"];
  const operator = { ...common, ...servers, SONDE_SEALING_KEY_FILE: keyFile, SONDE_PLANS: "" };
  const facts = await admin<LocationFacts>({ dataDir: join(temporaryFolder(), "data") }, operator, ...words);
  const redis = new Redis(at.redisUrl);
  const [command = "", ...rule] = facts.acl.split(" ");
  await redis.call(command, ...rule);
  redis.disconnect();
  writeFileSync(
    systemd.file("/etc/sonde/checker-any.env"),
    settings({ ...common, SONDE_REDIS_URL: facts.redis_url, SONDE_WORKERS: "1" }),
  );
  giveToRoot(systemd, "/etc/sonde/checker-any.key", facts.key_file);
  const units = ["sonde-checker@any.service", "sonde-scheduler.service", "sonde-api@8081.service"];
  systemd.systemctl("start", ...units);
  await untilActive(systemd, "sonde-scheduler.service", /Sonde schedules/);
  await untilActive(systemd, "sonde-checker@any.service", /Sonde checks from/);
  const owner = readFileSync(systemd.file("/var/lib/sonde-api-8081/owner.key"), "utf8").trim();
  await checksWebsite(urls.api, owner, site);
  await exportsTheBoard(urls);
  // In the order of their need.
  for (const unit of units) stopped(systemd, unit);
}

async function checksWebsite(url: string, key: string, site: Website): Promise<void> {
  const api = clientOf(url, key);
  const body = { type: "http", name: "site", url: site.url, interval: 1 };
  await untilStatus(api, await createMonitor(api, body), "healthy", WITHIN_MS);
}

/** By itself, with exit code 0, within its time; and it was never started again. */
function stopped(systemd: Systemd, unit: string): void {
  systemd.systemctl("stop", unit);
  const said = systemd.output(unit);
  expect([unit, said.match(/^ended: .*$/gm), said]).toEqual([unit, ["ended: success, exited 0"], said]);
}

/** Exported, and told by another panel's figure. */
const UNSEEN: readonly string[] = [
  "sonde_monitors",
  "sonde_checker_probers",
  "sonde_checker_unrun_total",
  "sonde_checker_lateness_seconds",
  "sonde_cores_started_total",
];

/** A panel over a metric that no process exports stays empty for ever; a metric on no panel is never seen. */
async function exportsTheBoard(urls: UnitPaths): Promise<void> {
  const board = readFileSync(join(OPERATIONS, "grafana-board.json"), "utf8");
  const guide = readFileSync(join(OPERATIONS, "metrics.md"), "utf8");
  const asked = new Set(`${board}${guide}`.match(/\b(?:sonde|process)_[a-z_]+/g)?.map(baseOf));
  expect(asked.size).toBeGreaterThan(20);
  // The scheduler's thread says how it is once a second.
  const exported = await eventually(async () => {
    const names = await exportedBy([urls.api, urls.scheduler, urls.checker]);
    return names.has("sonde_checks_total") ? names : undefined;
  }, WITHIN_MS);
  expect([...asked].filter((name) => !exported.has(name))).toEqual([]);
  const ours = [...exported].filter((name) => name.startsWith("sonde_"));
  expect(ours.filter((name) => !asked.has(name) && !UNSEEN.includes(name))).toEqual([]);
}

/** Names as they are declared: one that counts by label has no sample before there is something to count. */
async function exportedBy(urls: readonly string[]): Promise<ReadonlySet<string>> {
  const texts = await Promise.all(urls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  const declared = texts.join("\n").matchAll(/^(?:# TYPE )?([a-z_]+)(?=[ {])/gm);
  return new Set([...declared].map(([, name = ""]) => baseOf(name)));
}

const baseOf = (name: string): string => name.replace(/_(bucket|count|sum)$/, "");

/** As `install --owner root --mode 0400`. */
function giveToRoot(systemd: Systemd, path: string, content: string | Buffer): void {
  const file = systemd.file(path);
  writeFileSync(file, content);
  chownSync(file, 0, 0);
  chmodSync(file, 0o400);
}

/** What tests of the product set, where the units' user can read it. */
function commonOf(systemd: Systemd): Settings {
  const { SONDE_PLANS = "", ...rest } = productEnv();
  writeFileSync(systemd.file("/etc/sonde/plans.json"), readFileSync(SONDE_PLANS));
  return { ...rest, SONDE_PLANS: "/etc/sonde/plans.json" };
}

/** Ports outside that are the same inside. */
function portsOf({ databaseUrl, redisUrl, clickhouseUrl }: SharedStores, site: Website): readonly number[] {
  return [...[databaseUrl, redisUrl, clickhouseUrl].map((url) => Number(new URL(url).port)), site.port];
}

/** @returns a folder with the unit that stands at the other end, and one that reads the key's file as the service's user */
function writeBridge(folder: string, ports: readonly number[]): string {
  const inwards = ports.map((port) => `${port}=${folder}/${port}`);
  const outwards = Object.values(INSIDE).map((port) => `${folder}/${port}=${port}`);
  const unit = join(folder, "units");
  mkdirSync(unit);
  const command = [process.execPath, BRIDGE, ...inwards, ...outwards].join(" ");
  writeFileSync(join(unit, "bridge.service"), `[Service]\nExecStart=${command}\n`);
  writeFileSync(
    join(unit, "reads-key.service"),
    `[Service]\nType=oneshot\nUser=sonde\nGroup=sonde\nExecStart=/bin/cat ${SEALING_KEY}\n`,
  );
  return unit;
}

async function openBridge(folder: string, ports: readonly number[]): Promise<UnitPaths & { close(): void }> {
  const names = Object.keys(INSIDE) as (keyof typeof INSIDE)[];
  const outside = await Promise.all(names.map(() => freePort()));
  const words = [
    ...ports.map((port) => `${folder}/${port}=${port}`),
    ...names.map((name, at) => `${outside[at]}=${folder}/${INSIDE[name]}`),
  ];
  const child = spawn("setpriv", ["--pdeathsig", "KILL", process.execPath, BRIDGE, ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const [up = 0, api = 0, scheduler = 0, checker = 0] = outside;
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  return { up: at(up), api: at(api), scheduler: at(scheduler), checker: at(checker), close: () => void child.kill() };
}
