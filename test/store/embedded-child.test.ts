/** Our own ClickHouse as a process: killed, frozen, out of disk, orphaned. Rows wait, it comes back on the same port, nothing is lost. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createClient } from "@clickhouse/client";
import { pino } from "pino";
import { afterEach, describe, expect, it, vi } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { ClickHouseResults } from "../../store/results/clickhouse.ts";
import { Pump } from "../../store/results/pump.ts";
import { rowOf, segmentOf } from "../../store/results/result-store.suite.ts";
import type { ResultStore } from "../../store/results/result-store.ts";
import { Spool } from "../../store/results/spool.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { withServer } from "../servers/missing.ts";
import { SILENT, startTestClickHouse, type TestClickHouse } from "./embedded.ts";

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const act of undo.splice(0).reverse()) await act();
});

interface Rig {
  readonly clickhouse: TestClickHouse;
  readonly store: ResultStore;
  readonly spool: Spool;
  readonly pump: Pump;
  /** Writes so many rows as the sink does. */
  write(count: number): Promise<void>;
  /** Ids of all rows that were written and are there. */
  stored(): Promise<number[]>;
}

const nowMs = Date.now();

async function startRig(dir?: string): Promise<Rig> {
  const clickhouse = await startTestClickHouse(dir === undefined ? {} : { dir });
  undo.push(() => clickhouse.remove());
  const store = new ClickHouseResults({ url: clickhouse.url, log: SILENT, insertTimeoutMs: 2_000 });
  undo.push(() => store.close());
  const folder = temporaryFolder();
  const spool = await Spool.open({ dir: folder, log: SILENT });
  undo.push(() => spool.close());
  const pump = new Pump({
    spool,
    results: store,
    log: SILENT,
    setAside: { add: async () => {} },
    appliedSeq: 0,
    settle: async () => {},
  });
  undo.push(() => pump.stop(0));
  let seq = 0;
  return {
    clickhouse,
    store,
    spool,
    pump,
    async write(count) {
      const rows = Array.from({ length: count }, () => {
        seq += 1;
        return rowOf({ monitor_id: 1, seq, id: String(seq), tested_at: nowMs - 100_000 + seq });
      });
      pump.wake(await spool.append(rows.map((row) => JSON.stringify(row))));
    },
    async stored() {
      const page = await store.ofMonitor({
        projectId: 1,
        monitorId: 1,
        period: "1h",
        status: null,
        limit: 1_000,
        offset: 0,
        nowMs,
        details: false,
      });
      return page.rows.map(({ id }) => Number(id)).reverse();
    },
  };
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
const soon = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 25_000, interval: 20 });
const allStored = (rig: Rig, count: number) =>
  soon(async () => {
    expect(rig.pump.state.waitingRows).toBe(0);
    expect(await rig.stored()).toEqual(upTo(count));
  });

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

describe("the embedded ClickHouse", () => {
  it("answers a statement without what one before it wrote and then failed", async () => {
    const clickhouse = await startTestClickHouse();
    undo.push(() => clickhouse.remove());
    const client = createClient({ url: clickhouse.url });
    undo.push(() => client.close());
    const ask = async (query: string): Promise<unknown> => (await client.query({ query, format: "JSON" })).json();
    for (let round = 0; round < 3; round += 1) {
      const failing = "SELECT number, throwIf(number = 50000) FROM numbers(100000) SETTINGS max_block_size = 1000";
      await expect(ask(failing)).rejects.toThrow(/non-zero/);
      expect(await ask("SELECT 4 AS four")).toMatchObject({ data: [{ four: 4 }] });
    }
  });

  it("killed between inserts comes back at the same address with every row", { timeout: 60_000 }, async () => {
    const rig = await startRig();
    const { url } = rig.clickhouse;
    const states: string[] = [];
    rig.clickhouse.onStateChange(({ status }) => states.push(status));
    for (let round = 1; round <= 3; round += 1) {
      await rig.write(50);
      process.kill(rig.clickhouse.pid() ?? 0, "SIGKILL");
      await rig.write(50);
      await soon(() => expect(rig.clickhouse.state()).toMatchObject({ status: "ready", restarts: round }));
      await allStored(rig, round * 100);
    }
    expect(rig.clickhouse.url).toBe(url);
    expect(states).toEqual(["restarting", "ready", "restarting", "ready", "restarting", "ready"]);
    expect(rig.clickhouse.state().problem).toContain("SIGKILL");
  });

  it("crashed by a signal ends at once instead of hanging", { timeout: 60_000 }, async () => {
    const rig = await startRig();
    for (const signal of ["SIGSEGV", "SIGABRT"] as const) {
      const pid = rig.clickhouse.pid() ?? 0;
      process.kill(pid, signal);
      await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 3_000, interval: 10 });
      await soon(() => expect(rig.clickhouse.state().status).toBe("ready"));
    }
    await rig.write(3);
    await allStored(rig, 3);
  });

  it("frozen is killed and restarted, and nothing that waited is lost", { timeout: 60_000 }, async () => {
    const rig = await startRig();
    await rig.write(20);
    await allStored(rig, 20);
    const pid = rig.clickhouse.pid() ?? 0;
    process.kill(pid, "SIGSTOP");
    await rig.write(30);
    await soon(() => expect(rig.clickhouse.state()).toMatchObject({ status: "ready", restarts: 1 }));
    expect(isAlive(pid)).toBe(false);
    await allStored(rig, 50);
  });

  it("ignores the signals that a terminal and a service manager send to the whole process group", {
    timeout: 60_000,
  }, async () => {
    const rig = await startRig();
    const pid = rig.clickhouse.pid() ?? 0;
    process.kill(pid, "SIGINT");
    process.kill(pid, "SIGTERM");
    await rig.write(5);
    await allStored(rig, 5);
    expect(rig.clickhouse.pid()).toBe(pid);
  });

  it("stops while a long query runs, and starts again on its folder with all rows", { timeout: 60_000 }, async () => {
    const rig = await startRig();
    await rig.write(10);
    await allStored(rig, 10);
    const { dir } = rig.clickhouse;
    const slow = fetch(
      new URL("/?query=SELECT+count()+FROM+numbers(1e12)+WHERE+sipHash64(number)=1", withoutUser(rig.clickhouse.url)),
      {
        headers: { authorization: authorizationOf(rig.clickhouse.url) },
      },
    ).catch((error: unknown) => error);
    await soon(async () => expect(await runningQueries(rig.clickhouse.url)).toContain("sipHash64"));
    const pid = rig.clickhouse.pid() ?? 0;
    await rig.pump.stop(0);
    await rig.clickhouse.close();
    expect(isAlive(pid)).toBe(false);
    expect(rig.clickhouse.state().status).toBe("closed");
    await slow;

    const again = await startTestClickHouse({ dir });
    undo.push(() => again.close());
    const store = new ClickHouseResults({ url: again.url, log: SILENT });
    undo.push(() => store.close());
    const query = {
      projectId: 1,
      monitorId: 1,
      period: "7d",
      status: null,
      limit: 1,
      offset: 0,
      nowMs,
      details: false,
    } as const;
    expect((await store.ofMonitor(query)).total).toBe(10);
  });

  it("binds parameters as the client means them", { timeout: 60_000 }, async () => {
    const rig = await startRig();
    const client = createClient({ url: rig.clickhouse.url });
    undo.push(() => client.close());
    const given = { text: "a'b\\c\t\n+%41 ü", list: ["it's", "x"], nothing: null };
    const query = "SELECT {text:String} AS text, {list:Array(String)} AS list, {nothing:Nullable(Int8)} AS nothing";
    const answer = await client.query({ query, query_params: given, format: "JSONEachRow" });
    expect(await answer.json()).toEqual([given]);
  });

  it("says in one line that its folder is in use", { timeout: 60_000 }, async () => {
    const rig = await startRig();
    await expect(startTestClickHouse({ dir: rig.clickhouse.dir })).rejects.toThrow(/another sonde uses/);
    await rig.write(1);
    await allStored(rig, 1);
  });

  it("says in one line that its folder cannot be used", { timeout: 60_000 }, async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "engine"), "a file where a folder must be");
    await expect(startTestClickHouse({ dir: folder })).rejects.toThrow(
      /the embedded ClickHouse does not start: .*engine/,
    );
  });

  it.each(["hold", "setpriv", "none"])("dies with a parent that was killed (%s)", { timeout: 60_000 }, async (way) => {
    const dir = temporaryFolder();
    const fixture = fileURLToPath(new URL("../fixtures/clickhouse-parent.mjs", import.meta.url));
    const parent = spawn(process.execPath, [fixture, dir, way], { stdio: ["ignore", "pipe", "inherit"] });
    undo.push(() => parent.kill("SIGKILL"));
    const pid = await new Promise<number>((resolve) =>
      createInterface({ input: parent.stdout }).once("line", (line) => resolve(Number(line))),
    );
    expect(isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 5_000, interval: 10 });
  });

  it.each(["missing", "too old"])("starts where setpriv is %s, and says so", { timeout: 60_000 }, async (how) => {
    const folder = temporaryFolder();
    const setpriv = join(folder, "setpriv");
    if (how === "too old")
      writeFileSync(setpriv, "#!/bin/sh\necho \"setpriv: unrecognized option '$1'\" >&2\nexit 1\n", { mode: 0o755 });
    const warnings: string[] = [];
    const log = pino({ level: "warn" }, { write: (line) => void warnings.push(line) });
    const clickhouse = await startTestClickHouse({
      starts: [{ by: "setpriv", program: setpriv }, { by: "none" }],
      log,
    });
    undo.push(() => clickhouse.remove());
    expect(clickhouse.state().status).toBe("ready");
    expect(warnings.join("")).toContain("setpriv (util-linux) is missing or too old");
  });

  it("leads nowhere: no file of ours, no network, no program", { timeout: 60_000 }, async () => {
    const outside = temporaryFolder();
    const secret = join(outside, "secret.csv");
    writeFileSync(secret, "42\n");
    const asked: string[] = [];
    const site = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end("42\n");
    });
    undo.push(() => site.close());
    const port = await listen(site);
    const clickhouse = await startTestClickHouse();
    undo.push(() => clickhouse.remove());
    // The engine tries an address again for a minute.
    for (const [sql, refusal] of [
      [`SELECT * FROM file('${secret}', CSV, 'n Int32')`, /Permission denied/],
      [`SELECT * FROM file('/proc/${process.pid}/environ', LineAsString)`, /Permission denied/],
      [`SELECT * FROM url('http://127.0.0.1:${port}/asked', CSV, 'n Int32') SETTINGS http_max_tries=1`, /I\/O error/],
      [`SELECT * FROM remote('127.0.0.1:${port}', system.one)`, /I\/O error/],
      [`SELECT * FROM executable('id', CSV, 'n String')`, /does not exist/],
      [`INSERT INTO FUNCTION file('${outside}/made.csv', CSV, 'n Int32') SELECT 1`, /Permission denied/],
    ] as const) {
      expect(await answerOf(clickhouse.url, sql), sql).toMatch(refusal);
    }
    expect(asked).toEqual([]);
    expect(readdirSync(outside)).toEqual(["secret.csv"]);
    const status = readFileSync(`/proc/${clickhouse.pid()}/status`, "utf8");
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^Seccomp:\t2$/m);
  });

  it("restores what a store lost: a new folder gets its tables at the next insert", { timeout: 60_000 }, async () => {
    const rig = await startRig();
    await rig.write(2);
    await allStored(rig, 2);
    await command(rig.clickhouse.url, "DROP DATABASE sonde SYNC");
    await rig.write(3);
    await soon(async () => expect(await rig.stored()).toEqual([3, 4, 5]));
    await rig.store.insert(segmentOf("more", [rowOf({ monitor_id: 1, seq: 6, id: "6", tested_at: nowMs })]));
    expect(await rig.stored()).toEqual([3, 4, 5, 6]);
  });
});

function tmpfs(): { readonly dir: string } | { readonly missing: string } {
  if (process.getuid?.() !== 0) return { missing: "mounting a small tmpfs needs root" };
  const dir = temporaryFolder();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "sonde-test", dir], { stdio: "pipe" });
    return { dir };
  } catch (error) {
    return { missing: `this machine mounts no tmpfs (${String(error).split("\n")[0]})` };
  }
}

withServer("the embedded ClickHouse on a full disk", tmpfs(), ({ dir }) => {
  it("on a full disk frees its ballast, says so, keeps answering, and takes everything when there is room", {
    timeout: 60_000,
  }, async () => {
    undo.push(() => {
      execFileSync("umount", [dir]);
    });
    const rig = await startRig(join(dir, "clickhouse"));
    await rig.write(10);
    await allStored(rig, 10);
    await command(
      rig.clickhouse.url,
      "CREATE TABLE sonde.spare ENGINE = MergeTree ORDER BY n AS SELECT number AS n FROM numbers(1000)",
    );
    const filler = join(dir, "filler");
    fill(filler);
    await rig.write(40);
    await soon(() => expect(rig.clickhouse.state().isDiskFull).toBe(true));
    await soon(() => expect(rig.pump.state.lastError).toMatch(/NOT_ENOUGH_SPACE|No space|disk is full/));
    expect(existsSync(join(dir, "clickhouse", "ballast"))).toBe(false);
    expect(await rig.stored()).toEqual(upTo(10));
    expect(rig.pump.state.waitingRows).toBe(40);
    // Without the ballast not even this would work.
    await command(rig.clickhouse.url, "TRUNCATE TABLE sonde.spare");

    rmSync(filler);
    await soon(() => expect(rig.clickhouse.state().isDiskFull).toBe(false));
    await allStored(rig, 50);
    expect(existsSync(join(dir, "clickhouse", "ballast"))).toBe(true);
    expect(rig.clickhouse.state().restarts).toBe(0);
  });
});

/** Fills the disk to the last byte. */
function fill(path: string): void {
  for (const bytes of [1024 * 1024, 4096, 1]) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(bytes), { flag: "a" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

function withoutUser(url: string): URL {
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  bare.pathname = "/";
  return bare;
}

function authorizationOf(url: string): string {
  const { username, password } = new URL(url);
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

async function command(url: string, sql: string): Promise<void> {
  expect(await answerOf(url, sql)).toBe("200 ");
}

/** @returns status and body */
async function answerOf(url: string, sql: string): Promise<string> {
  const response = await fetch(withoutUser(url), {
    method: "POST",
    headers: { authorization: authorizationOf(url) },
    body: sql,
  });
  return `${response.status} ${await response.text()}`;
}

async function runningQueries(url: string): Promise<string> {
  const response = await fetch(new URL("/?query=SELECT+query+FROM+system.processes", withoutUser(url)), {
    headers: { authorization: authorizationOf(url) },
  });
  return response.text();
}
