/**
 * Uptime Kuma 2, from a folder that has its sources and its packages (`npm ci --omit dev` in a checkout): it is an application, not a package
 * that could be built here. Its monitors are written into its own database between two starts, as its page would do.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { FIRST_HOST, type Peer, type RunningPeer, type Site } from "./peer.ts";
import { ended } from "./program.ts";

/** It starts one monitor every 0.3 to 1 s, so more would take longer to be in full swing than to measure. */
const MOST_MONITORS = 100;
const STEP_S = 0.65;
/** The first start makes the database and takes all steps of its migrations. */
const START_WITHIN_MS = 120_000;
const ASK_EVERY_MS = 200;

export const UPTIME_KUMA: Peer = {
  name: "uptime-kuma 2",
  what: `schedules, judges, stores in SQLite; at most ${MOST_MONITORS} targets, since it starts one every 0.65 s`,
  async prepare({ kuma: folder }) {
    if (folder === undefined || !existsSync(join(folder, "server/server.js"))) {
      return { reason: "give --kuma a checkout of Uptime Kuma 2 with its packages" };
    }
    return { start: (site) => started(folder, site) };
  },
};

async function started(folder: string, site: Site): Promise<RunningPeer> {
  const first = await serving(folder, site);
  await ended(first);
  const monitors = Math.min(site.options.targets, MOST_MONITORS);
  addMonitors(join(site.folder, "kuma.db"), site.targetPort, monitors);
  const child = await serving(folder, site);
  return {
    pid: child.pid ?? 0,
    warmUpS: Math.ceil(monitors * STEP_S) + 5,
    isUp: () => isUp(child),
    stop: () => ended(child),
  };
}

/** Resolves when it answers. */
async function serving(folder: string, site: Site): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["server/server.js"], {
    cwd: folder,
    env: {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      // Without it the built page is asked for, which no measurement needs.
      NODE_ENV: "development",
      DATA_DIR: `${site.folder}/`,
      UPTIME_KUMA_DB_TYPE: "sqlite",
      UPTIME_KUMA_HOST: FIRST_HOST,
      UPTIME_KUMA_PORT: String(site.port),
    },
    stdio: "ignore",
  });
  const untilMs = Date.now() + START_WITHIN_MS;
  while (!(await answers(site.port))) {
    if (!isUp(child)) throw new Error(`Uptime Kuma ended with ${child.exitCode ?? child.signalCode}`);
    if (Date.now() > untilMs) {
      await ended(child);
      throw new Error(`Uptime Kuma did not answer within ${START_WITHIN_MS / 1_000} s`);
    }
    await pause(ASK_EVERY_MS);
  }
  return child;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: FIRST_HOST, port, path: "/api/entry-page" }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).once("error", () => resolve(false));
  });
}

function isUp({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

/** The columns without a default (its db/knex_init_db.js). */
function addMonitors(path: string, targetPort: number, monitors: number): void {
  const db = new Database(path, { fileMustExist: true });
  const addUser = db.prepare("INSERT INTO user (username, password, active) VALUES ('bench', '-', 1)");
  const addMonitor = db.prepare(
    `INSERT INTO monitor (name, user_id, active, interval, type, url, timeout, accepted_statuscodes_json)
     VALUES (?, ?, 1, 1, 'http', ?, 10, '["200-299"]')`,
  );
  try {
    db.transaction(() => {
      const user = addUser.run().lastInsertRowid;
      for (let n = 0; n < monitors; n++) addMonitor.run(`t${n}`, user, `http://${FIRST_HOST}:${targetPort}/${n}`);
    })();
  } finally {
    db.close();
  }
}
