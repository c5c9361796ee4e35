/** A private PostgreSQL from Debian's packages: own folder, own socket, no TCP unless asked, no durability beyond the process. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { freePort } from "../../testkit/free-port.ts";
import { findProgram, isExecutable, type Missing, type ServerProcess, startServer, untilReady } from "./server.ts";

const VERSIONS = "/usr/lib/postgresql";
const SUPERUSER = "sonde";

export interface PostgresServer {
  /** A new database: empty, or as another one that has no connections. */
  createDatabase(likeUrl?: string): Promise<{ readonly url: string; drop(): Promise<void> }>;
  readonly port: number;
  /** As after a power cut of the server, and back. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** PostgreSQL refuses to run as root: it runs as one of these users. */
function serverUser(): { readonly name: string; readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (flag: string): number =>
        Number(execFileSync("id", [flag, name], { stdio: ["ignore", "pipe", "ignore"] }));
      return { name, uid: id("-u"), gid: id("-g") };
    } catch {
      // The next one.
    }
  }
  return undefined;
}

function findBinaries(): string | undefined {
  try {
    const versions = readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a));
    return versions
      .map((version) => join(VERSIONS, version, "bin"))
      .find((folder) => isExecutable(join(folder, "postgres")));
  } catch {
    return undefined;
  }
}

/** Each database is a thousand files: making them costs a disk's file system more time than the tests of them take. */
const MEMORY = "/dev/shm";
const KILLED_WITHIN_MS = 10_000;
/** Of all databases of a run and their logs, with room to spare, bytes. */
const ROOM_BYTES = 8 * 1024 ** 3;

function roomyFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/**
 * @param addresses of this machine where it listens besides loopback, and trusts their neighbours
 * @param certificate with its key: it offers TLS
 */
export async function startPostgres(
  addresses: readonly string[] = [],
  certificate?: { readonly certPem: string; readonly keyPem: string },
): Promise<PostgresServer | Missing> {
  const binaries = findBinaries();
  if (binaries === undefined) return { missing: `no PostgreSQL server in ${VERSIONS} (Debian: postgresql)` };
  const isRoot = process.getuid?.() === 0;
  const user = serverUser();
  if (isRoot && (user === undefined || findProgram("setpriv") === undefined)) {
    return { missing: "PostgreSQL does not run as root, and there is no setpriv or no user postgres or nobody" };
  }
  const folder = mkdtempSync(join(roomyFolder(), "sonde-pg-"));
  const data = join(folder, "data");
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o755);
  const owner = user === undefined ? { cwd: folder } : { cwd: folder, user: user.name };
  const init = ["-D", data, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"];
  const made = startServer(join(binaries, "initdb"), init, owner);
  await new Promise((resolve) => made.child.once("exit", resolve));
  if (made.child.exitCode !== 0) throw new Error(`initdb failed: ${made.output()}`);
  for (const address of addresses) {
    appendFileSync(join(data, "pg_hba.conf"), `host all all ${address.replace(/\d+$/, "0/24")} trust\n`);
  }
  if (certificate !== undefined) {
    // By the names that it looks for.
    const files = { "server.crt": certificate.certPem, "server.key": certificate.keyPem };
    for (const [name, pem] of Object.entries(files)) {
      writeFileSync(join(data, name), pem, { mode: 0o600 });
      if (user !== undefined) chownSync(join(data, name), user.uid, user.gid);
    }
  }

  const port = await freePort();
  const url = (database: string): string => `postgres://${SUPERUSER}@127.0.0.1:${port}/${database}`;
  const start = async (): Promise<ServerProcess> => {
    const settings = {
      port,
      listen_addresses: ["127.0.0.1", ...addresses].join(),
      unix_socket_directories: folder,
      fsync: "off",
      ssl: certificate === undefined ? "off" : "on",
      max_connections: 200,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = startServer(join(binaries, "postgres"), ["-D", data, ...args], owner);
    await untilReady(server, () => run(url("postgres"), "select 1"));
    return server;
  };
  let server = await start();
  let count = 0;
  return {
    port,
    async createDatabase(likeUrl) {
      const name = `sonde_${++count}`;
      const like = likeUrl === undefined ? "template1" : new URL(likeUrl).pathname.slice(1);
      await run(url("postgres"), `create database ${name} template ${like}`);
      return { url: url(name), drop: () => run(url("postgres"), `drop database if exists ${name} with (force)`) };
    },
    kill: () => server.stop("SIGKILL"),
    async restart() {
      await server.stop("SIGINT");
      server = await afterKilled(start);
    },
    async stop() {
      // Fast shutdown: clients are sent away.
      await server.stop("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Processes of a server that was killed may live a moment longer, and meanwhile the next one refuses the folder. */
async function afterKilled(start: () => Promise<ServerProcess>): Promise<ServerProcess> {
  const deadlineMs = performance.now() + KILLED_WITHIN_MS;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!String(error).includes("is still in use") || performance.now() > deadlineMs) throw error;
    }
  }
}

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end().catch(() => {});
  }
}
