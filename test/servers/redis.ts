/** A private Redis from Debian's package: own folder, own port, nothing on disk but users that were saved. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort } from "../../testkit/free-port.ts";
import { findProgram, type Missing, type ServerProcess, startServer, untilReady } from "./server.ts";

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Lets it stand still (SIGSTOP) and go on. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

/** @param addresses of this machine where it listens besides loopback */
export async function startRedis(addresses: readonly string[] = []): Promise<RedisServer | Missing> {
  const program = findProgram("redis-server");
  if (program === undefined) return { missing: "no redis-server on the PATH (Debian: redis-server)" };
  const folder = mkdtempSync(join(tmpdir(), "sonde-redis-"));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const aclfile = join(folder, "users.acl");
  writeFileSync(aclfile, "");
  const start = async (): Promise<ServerProcess> => {
    const settings = { port: String(port), save: "", appendonly: "no", dir: folder, aclfile, "protected-mode": "no" };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    args.push("--bind", "127.0.0.1", ...addresses);
    const server = startServer(program, args, { cwd: folder });
    await untilReady(server, () => ping(url));
    return server;
  };
  let server = await start();
  return {
    url,
    port,
    kill: () => server.stop("SIGKILL"),
    async restart() {
      await server.stop("SIGKILL");
      server = await start();
    },
    freeze: () => void server.child.kill("SIGSTOP"),
    thaw: () => void server.child.kill("SIGCONT"),
    async stop() {
      server.child.kill("SIGCONT");
      await server.stop("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function ping(url: string): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.ping();
  } finally {
    client.disconnect();
  }
}
