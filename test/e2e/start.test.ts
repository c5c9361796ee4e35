/** Starts that cannot succeed say why in one line and leave nothing behind; stops lose nothing. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ConfigError, loadConfig, SETTINGS } from "../../config.ts";
import { checkSettings } from "../../roles/check-settings.ts";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { clientOf, type ResultsBody } from "../client.ts";
import { describeWith } from "../prerequisites.ts";
import { createMonitor, productEnv, startProduct, untilStatus } from "../product.ts";
import { cleanUp, ended, eventually, runSonde, type ServiceSettings, startService } from "../service.ts";
import { startWebsite } from "../targets.ts";

afterAll(cleanUp);

/** Each start costs a Node process and its modules; two cores. */
const TIMEOUT_MS = 120_000;

interface Refusal {
  /** Of stderr, without what a long start says it is doing. */
  readonly lines: readonly string[];
  readonly code: number | null;
  readonly dataDir: string;
}

/** A start that is expected to end by itself. */
async function refused(settings: ServiceSettings): Promise<Refusal> {
  const { child, dataDir } = await runSonde({ ...settings, env: { ...productEnv(), ...settings.env } });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  // What it said may be read after its exit.
  const closed = once(child, "close");
  const code = await ended(child, () => {});
  await closed;
  const lines = said.split("\n").filter((line) => line !== "" && !line.endsWith("…"));
  return { lines, code, dataDir };
}

async function expectRefusal(settings: ServiceSettings, ...words: readonly (string | RegExp)[]): Promise<Refusal> {
  const refusal = await refused(settings);
  expect(refusal.lines).toHaveLength(1);
  for (const word of ["sonde: ", ...words]) expect(refusal.lines[0]).toMatch(word);
  expect(refusal.code).toBe(1);
  expect(holdersOf(refusal.dataDir)).toEqual([]);
  return refusal;
}

/** Processes that have anything in the folder open, or live in it. */
function holdersOf(folder: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        const open = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
        return [...open, linkOf(`/proc/${pid}/cwd`)].some((path) => path.startsWith(folder));
      } catch {
        return false;
      }
    });
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** Started once and stopped: a folder with everything in it. */
async function usedFolder(): Promise<string> {
  const product = await startProduct();
  await createMonitor(product.api, { type: "push", name: "Job", period: 60 });
  expect(await product.stop()).toBe(0);
  expect(holdersOf(product.dataDir)).toEqual([]);
  return product.dataDir;
}

/** The next start is a good one, and nothing is missing. */
async function expectGoodStart(dataDir: string): Promise<void> {
  const product = await startProduct({ dataDir });
  expect((await product.api.get("/servers?family=all")).body).toMatchObject({ total: 1 });
  expect(await product.stop()).toBe(0);
}

const file = (content: string | Buffer): string => {
  const path = join(temporaryFolder(), "file");
  writeFileSync(path, content);
  return path;
};
const key = () => file(randomBytes(32));
const plans = (table: unknown) => ({ SONDE_PLANS: file(JSON.stringify(table)) });
const provider = {
  SONDE_BASE_URL: "https://sonde.test-site.org",
  SONDE_OIDC_ISSUER: "https://login.test-site.org",
  SONDE_OIDC_CLIENT_ID: "sonde",
  SONDE_OIDC_CLIENT_SECRET: "s3cret",
  SONDE_OIDC_CLIENT_SECRET_FILE: "/nowhere/at-all",
  SONDE_OIDC_AUTO_MEMBER: "viewer@test-site.org",
};
const NOWHERE = "/nowhere/at-all";

/** Refused before anything is opened, by each of the two that refuse: how a start ends is the same for all that they refuse. */
const STARTED_TOO = ["port: no number", "canaries"];

/** What a start says of settings that it refuses before anything is opened; null: it opens something. */
async function refusedBefore(env: Readonly<Record<string, string>>): Promise<string | null> {
  try {
    await checkSettings(loadConfig({ SONDE_DATA_DIR: temporaryFolder(), ...productEnv(), ...env }, "off"));
    return null;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.message).not.toContain("\n");
    return error.message;
  }
}

describe.concurrent("a start with a setting that cannot be used", () => {
  const settings: Record<string, readonly [env: () => Record<string, string>, ...words: (string | RegExp)[]]> = {
    "port: no number": [() => ({ SONDE_PORT: "http" }), "SONDE_PORT", "0 to 65535"],
    "port: too large": [() => ({ SONDE_PORT: "65536" }), "SONDE_PORT", "0 to 65535"],
    "port: empty": [() => ({ SONDE_PORT: "" }), "SONDE_PORT", "0 to 65535"],
    "host: empty": [() => ({ SONDE_HOST: "" }), "SONDE_HOST", "all addresses"],
    "host: not this machine's": [() => ({ SONDE_HOST: "192.0.2.1" }), "192.0.2.1", "SONDE_HOST"],
    "host: no name": [() => ({ SONDE_HOST: "unknown.invalid" }), "unknown.invalid", "SONDE_HOST"],
    "base URL": [() => ({ SONDE_BASE_URL: "example" }), "SONDE_BASE_URL", "http://"],
    "docs URL": [() => ({ SONDE_DOCS_URL: "ftp://127.0.0.1/" }), "SONDE_DOCS_URL", "http://"],
    "data folder: empty": [() => ({ SONDE_DATA_DIR: "" }), "SONDE_DATA_DIR"],
    "data folder: where none can be made": [() => ({ SONDE_DATA_DIR: "/proc/sonde" }), "SONDE_DATA_DIR", "ENOENT"],
    "database: another scheme": [
      () => ({ SONDE_DATABASE_URL: "mysql://127.0.0.1/a" }),
      "SONDE_DATABASE_URL",
      "postgres://",
    ],
    "database: without a key": [() => ({ SONDE_DATABASE_URL: "postgres://127.0.0.1:1/a" }), "SONDE_SEALING_KEY_FILE"],
    "database: no server there": [
      () => ({ SONDE_DATABASE_URL: "postgres://u:s3cret@127.0.0.1:1/a", SONDE_SEALING_KEY_FILE: key() }),
      "127.0.0.1:1",
      /connection refused/,
      /^(?!.*s3cret)/,
    ],
    "redis: another scheme": [() => ({ SONDE_REDIS_URL: "http://127.0.0.1:1" }), "SONDE_REDIS_URL", "redis://"],
    "redis: no server there": [
      () => ({ SONDE_REDIS_URL: "redis://:s3cret@127.0.0.1:1" }),
      /redis/i,
      "127.0.0.1:1",
      /^(?!.*s3cret)/,
    ],
    "clickhouse: another scheme": [
      () => ({ SONDE_CLICKHOUSE_URL: "tcp://127.0.0.1:1" }),
      "SONDE_CLICKHOUSE_URL",
      "http://",
    ],
    "clickhouse: no server there": [
      () => ({ SONDE_CLICKHOUSE_URL: "http://u:s3cret@127.0.0.1:1/a" }),
      "SONDE_CLICKHOUSE_URL",
      "127.0.0.1:1",
      "ECONNREFUSED",
      /^(?!.*s3cret)/,
    ],
    "clickhouse: no name": [() => ({ SONDE_CLICKHOUSE_URL: "http://unknown.invalid" }), "SONDE_CLICKHOUSE_URL"],
    "clickhouse: no database": [() => ({ SONDE_CLICKHOUSE_URL: "http://127.0.0.1:1/a-b" }), "SONDE_CLICKHOUSE_URL"],
    "allowed networks": [() => ({ SONDE_ALLOW_NETS: "10.0.0.0/40" }), "SONDE_ALLOW_NETS", "10.0.0.0/40"],
    "allowed ports": [() => ({ SONDE_ALLOW_NETS: "10.0.0.0/8:99999" }), "SONDE_ALLOW_NETS", "99999"],
    "public networks": [() => ({ SONDE_PUBLIC_ALLOW_NETS: "here" }), "SONDE_PUBLIC_ALLOW_NETS", "here"],
    resolvers: [() => ({ SONDE_RESOLVERS: "dns.test" }), "SONDE_RESOLVERS", "dns.test"],
    "roots: no file": [() => ({ SONDE_EXTRA_CA: NOWHERE }), "SONDE_EXTRA_CA", NOWHERE],
    "roots: no PEM": [() => ({ SONDE_EXTRA_CA: file("roots") }), "SONDE_EXTRA_CA"],
    "tunnel targets": [() => ({ SONDE_TUNNEL_TARGETS: "dns:name" }), "SONDE_TUNNEL_TARGETS", "dns:name"],
    "verify URLs": [() => ({ SONDE_VERIFY_URLS: "foo" }), "SONDE_VERIFY_URLS", "foo", "#204"],
    "xray: no file": [() => ({ SONDE_XRAY: NOWHERE }), "SONDE_XRAY", NOWHERE],
    "sing-box: a folder": [() => ({ SONDE_SING_BOX: temporaryFolder() }), "SONDE_SING_BOX"],
    "sing-box: no program": [() => ({ SONDE_SING_BOX: file("text") }), "SONDE_SING_BOX"],
    canaries: [() => ({ SONDE_CANARIES: "bird" }), "SONDE_CANARIES", "bird"],
    "sealing key: no file": [() => ({ SONDE_SEALING_KEY_FILE: NOWHERE }), "SONDE_SEALING_KEY_FILE", NOWHERE],
    "sealing key: no key": [() => ({ SONDE_SEALING_KEY_FILE: file("short") }), "32 bytes"],
    RDAP: [() => ({ SONDE_RDAP_BOOTSTRAP: "registry" }), "SONDE_RDAP_BOOTSTRAP", "http://"],
    proxies: [() => ({ SONDE_TRUSTED_PROXIES: "proxy" }), "SONDE_TRUSTED_PROXIES", "proxy"],
    "mail server": [() => ({ SONDE_SMTP_URL: "mail.test" }), "SONDE_SMTP_URL", "smtps://"],
    "whom mail is from": [() => ({ SONDE_MAIL_FROM: "sonde" }), "SONDE_MAIL_FROM", "address"],
    limits: [() => ({ SONDE_LIMITS: "some" }), "SONDE_LIMITS", "off or contract"],
    "plans: no file": [() => ({ SONDE_PLANS: NOWHERE }), "SONDE_PLANS", NOWHERE],
    "plans: no JSON": [() => ({ SONDE_PLANS: file("{") }), "SONDE_PLANS", "JSON"],
    "plans: unknown plan": [() => plans({ gold: {} }), "SONDE_PLANS", "gold"],
    "plans: unknown key": [() => plans({ pro: { slots: 1 } }), "SONDE_PLANS", "slots"],
    "plans: wrong value": [() => plans({ pro: { tunnelSlots: "many" } }), "SONDE_PLANS", "pro.tunnelSlots"],
    workers: [() => ({ SONDE_WORKERS: "0" }), "SONDE_WORKERS", "1 to 64"],
    "checks at once": [() => ({ SONDE_CHECKS_AT_ONCE: "0" }), "SONDE_CHECKS_AT_ONCE", "1 to 65536"],
    "checks at a host": [() => ({ SONDE_CHECKS_PER_HOST: "many" }), "SONDE_CHECKS_PER_HOST", "1 to 65536"],
    "checks of a workspace": [() => ({ SONDE_CHECKS_PER_WORKSPACE: "-1" }), "SONDE_CHECKS_PER_WORKSPACE", "1 to 65536"],
    "newest results": [() => ({ SONDE_RECENT_MB: "3" }), "SONDE_RECENT_MB", "4 to 65536"],
    "monitors in metrics": [() => ({ SONDE_MONITOR_METRICS: "all" }), "SONDE_MONITOR_METRICS", "0 to 10000"],
    log: [() => ({ SONDE_LOG: "loud" }), "SONDE_LOG", "info"],
    page: [() => ({ SONDE_WEB: "yes" }), "SONDE_WEB", "on or off"],
    links: [() => ({ SONDE_REVEAL_LINKS: "yes" }), "SONDE_REVEAL_LINKS", "on or off"],
    "provider of identities": [() => provider, "SONDE_OIDC_CLIENT_SECRET_FILE", "one secret"],
    "claim of addresses": [
      () => ({ ...provider, SONDE_OIDC_EMAIL_CLAIM: "e mail" }),
      "SONDE_OIDC_EMAIL_CLAIM",
      "claim",
    ],
    "list of status pages": [() => ({ SONDE_STATUS_INDEX: "yes" }), "SONDE_STATUS_INDEX", "on or off"],
    streams: [() => ({ SONDE_MAX_STREAMS: "0" }), "SONDE_MAX_STREAMS", "1 to 10000"],
    server: [() => ({ SONDE_HTTP: "apache" }), "SONDE_HTTP", "net"],
    debugging: [() => ({ SONDE_DEBUGGABLE: "yes" }), "SONDE_DEBUGGABLE", "0 or 1"],
    "a slip of the pen": [() => ({ SONDE_PROT: "9000" }), "SONDE_PROT is no setting", "SONDE_PORT"],
    "no name of ours": [() => ({ SONDE_INTERVAL: "5" }), "SONDE_INTERVAL is no setting", "settings.md"],
  };

  it("is tried for each setting that does not take any text", () => {
    const tried = new Set(Object.values(settings).flatMap(([env]) => Object.keys(env())));
    expect(SETTINGS.filter((name) => !tried.has(name))).toEqual(["SONDE_METRICS_TOKEN"]);
  });

  it.each(Object.entries(settings))("%s", { timeout: TIMEOUT_MS }, async (name, [variables, ...words]) => {
    const env = variables();
    const said = await refusedBefore(env);
    if (said !== null) for (const word of words) expect(said).toMatch(word);
    if (said !== null && !STARTED_TOO.includes(name)) return;
    const { dataDir } = await expectRefusal({ env }, ...words);
    // No key was made that was not shown.
    expect(existsSync(join(dataDir, "owner.key"))).toBe(false);
  });
});

describe("a start that finds its place taken", () => {
  it("says that the port is", { timeout: TIMEOUT_MS }, async () => {
    const holder = createServer();
    const port = await freePort();
    holder.listen(port, "127.0.0.1");
    await once(holder, "listening");
    const { dataDir } = await expectRefusal({ port }, String(port), "EADDRINUSE", "SONDE_PORT");
    expect(existsSync(dataDir)).toBe(false);
    await new Promise((resolve) => holder.close(resolve));
  });

  it("says that the data folder is, and leaves the one that has it alone", { timeout: TIMEOUT_MS }, async () => {
    const first = await startProduct();
    const second = await refused({ dataDir: first.dataDir });
    expect(second.lines).toEqual([
      expect.stringMatching(/^sonde: another sonde uses the data folder .*SONDE_DATA_DIR/),
    ]);
    expect(second.code).toBe(1);
    expect((await first.api.get("/servers")).status).toBe(200);
    expect(await first.stop()).toBe(0);
  });
});

describe("a start", () => {
  it("bounds the young heap of its main thread, in the process that was started", { timeout: TIMEOUT_MS }, async () => {
    const service = await startService({ env: productEnv() });
    const words = readFileSync(`/proc/${service.pid}/cmdline`, "utf8").split("\0");
    expect(words.filter((word) => word.startsWith("--max-semi-space-size"))).toEqual(["--max-semi-space-size=4"]);
    expect(words.slice(-2)).toEqual(["up", ""]);
    expect(await service.stop()).toBe(0);
    expect(service.output()).toContain("stopping: ");
  });
});

describe("the limits of the plans", () => {
  const body = { type: "http", name: "Site", url: "http://127.0.0.1:9/", interval: 1, timeout: 10 };
  const settings = (dataDir: string, limits: Readonly<Record<string, string>>): ServiceSettings => {
    const { SONDE_PLANS: _plans, SONDE_LIMITS: _limits, ...env } = productEnv();
    return { dataDir, env: { ...env, ...limits } };
  };
  const start = async (...words: Parameters<typeof settings>) => {
    const service = await startService(settings(...words));
    const api = clientOf(service.url, readFileSync(join(service.dataDir, "owner.key"), "utf8").trim());
    return { ...service, api };
  };

  it("are off on one's own machine, and the contract's where that is set", { timeout: TIMEOUT_MS }, async () => {
    const own = await start(join(temporaryFolder(), "data"), {});
    const created = await own.api.post("/servers", body);
    expect(created.status).toBe(200);
    // More than any plan of the contract allows in a minute.
    for (let asked = 0; asked < 130; asked += 1) {
      const { status, headers } = await own.api.get("/whoami");
      expect([status, headers.get("x-ratelimit-limit")]).toEqual([200, "1000000000"]);
    }
    expect((await own.api.get("/usage")).body).toMatchObject({ this_minute: { limit: null, remaining: null } });
    expect(await own.stop()).toBe(0);

    // A folder of its own: the requests of this minute are kept over a restart.
    const shared = await start(join(temporaryFolder(), "data"), { SONDE_LIMITS: "contract" });
    const refused = await shared.api.post("/servers", body);
    expect([refused.status, refused.body.message]).toEqual([
      403,
      "The shortest interval on your plan is 30 seconds (requested 1).",
    ]);
    expect(refused.headers.get("x-ratelimit-limit")).toBe("120");
    expect(await shared.stop()).toBe(0);
  });
});

const isRoot = process.getuid?.() === 0;
/** Root may write anywhere, unless it gives its capabilities away. */
const WITHOUT_POWER = isRoot
  ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all", process.execPath]
  : [process.execPath];

describeWith(isRoot ? ["setpriv"] : [], "a start in a folder that it may not write", () => {
  it("says so", { timeout: TIMEOUT_MS }, async () => {
    const folder = temporaryFolder();
    const dataDir = join(folder, "data");
    chmodSync(folder, 0o500);
    await expectRefusal({ dataDir, command: WITHOUT_POWER }, dataDir, "EACCES", "SONDE_DATA_DIR");
    chmodSync(folder, 0o700);
    expect(existsSync(dataDir)).toBe(false);
  });

  it("says so of a file in its place", { timeout: TIMEOUT_MS }, async () => {
    await expectRefusal({ dataDir: file("not a folder") }, "data folder", "SONDE_DATA_DIR");
  });
});

describe("a start on broken stores", () => {
  it("refuses a database that is none, and leaves it alone", { timeout: TIMEOUT_MS }, async () => {
    for (const name of ["control.sqlite", "state.sqlite"]) {
      const dataDir = join(temporaryFolder(), "data");
      mkdirSync(dataDir);
      writeFileSync(join(dataDir, name), "this is no database, ".repeat(500));
      await expectRefusal({ dataDir }, name, "not a database");
      expect(readFileSync(join(dataDir, name), "utf8")).toContain("this is no database");
    }
  });

  it("refuses a database with damaged pages", { timeout: TIMEOUT_MS }, async () => {
    const dataDir = await usedFolder();
    const path = join(dataDir, "control.sqlite");
    const whole = readFileSync(path);
    const handle = openSync(path, "r+");
    // Everything but the first page, which holds the header.
    for (let at = 4_096; at < statSync(path).size; at += 4_096) writeSync(handle, randomBytes(512), 0, 512, at);
    closeSync(handle);
    await expectRefusal({ dataDir }, "control.sqlite", "damaged", "backup");
    writeFileSync(path, whole);
    await expectGoodStart(dataDir);
  });

  it("refuses a missing and a wrong sealing key, and takes the right one again", { timeout: TIMEOUT_MS }, async () => {
    const dataDir = await usedFolder();
    const path = join(dataDir, "sealing.key");
    const right = readFileSync(path);
    writeFileSync(path, randomBytes(32));
    await expectRefusal({ dataDir }, path, "is not the one", "SONDE_SEALING_KEY_FILE");
    rmSync(path);
    await expectRefusal({ dataDir }, path, "is missing", "SONDE_SEALING_KEY_FILE");
    expect(existsSync(path)).toBe(false);
    await expectRefusal({ dataDir, env: { SONDE_SEALING_KEY_FILE: key() } }, "is not the one");
    writeFileSync(path, right, { mode: 0o600 });
    await expectGoodStart(dataDir);
  });

  it("refuses a result store that cannot be opened", { timeout: TIMEOUT_MS }, async () => {
    const dataDir = join(temporaryFolder(), "data");
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, "clickhouse"), "a file");
    await expectRefusal({ dataDir }, join(dataDir, "clickhouse"));
  });
});

describe("a stop", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "by %s lets checks end and stores their results",
    { timeout: TIMEOUT_MS },
    async (signal) => {
      // Slow enough that the signal meets checks in flight.
      const site = await startWebsite({ delayMs: 400 });
      const first = await startProduct();
      const ids: string[] = [];
      for (let i = 0; i < 5; i += 1)
        ids.push(
          await createMonitor(first.api, { type: "http", name: `Site ${i}`, url: site.url, interval: 1, timeout: 10 }),
        );
      for (const id of ids) await untilStatus(first.api, id, "healthy");
      const asked = site.requests();
      await eventually(async () => (site.requests() > asked + 5 ? true : undefined));
      first.child.kill(signal);
      expect(await ended(first.child, () => {})).toBe(0);
      expect(holdersOf(first.dataDir)).toEqual([]);
      const requests = site.requests();

      // Down with the target: what comes now is told from what was.
      await site.close();
      const second = await startProduct({ dataDir: first.dataDir });
      const total = async () => {
        const { body } = await second.api.get<ResultsBody>("/results?status=healthy&limit=1000");
        return body.results.filter(({ status }) => status === "healthy").length;
      };
      await eventually(async () => ((await total()) >= requests ? true : undefined));
      expect(await total()).toBe(requests);
      expect(await second.stop()).toBe(0);
    },
  );

  it("asked for twice does not wait", { timeout: TIMEOUT_MS }, async () => {
    const site = await startWebsite();
    site.answer(null);
    const product = await startProduct();
    await createMonitor(product.api, { type: "http", name: "Silent", url: site.url, interval: 1, timeout: 10 });
    await eventually(async () => (site.requests() > 0 ? true : undefined));
    // Under npm one Ctrl-C arrives twice, so what comes within a second is the same one; an impatient person goes on.
    const asking = setInterval(() => product.child.kill("SIGINT"), 200);
    expect(await ended(product.child, () => {})).toBe(130);
    clearInterval(asking);
    await eventually(async () => (holdersOf(product.dataDir).length === 0 ? true : undefined));
    await site.close();
  });
});
