/**
 * The built service on Node 24, from its npm package, with the `node:http` server: uWebSockets.js's binary for Node 24 wants a newer
 * glibc than Debian 12 has (libraries: 2.38). better-sqlite3 is compiled for it once and kept beside our dependencies.
 */
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clientOf, type MonitorBody, type ResultsBody } from "./client.ts";
import { describeWith } from "./prerequisites.ts";
import { findProgram } from "./servers/server.ts";
import { cleanUp, eventually, startService } from "./service.ts";

const NODE = `node-linux-${process.arch}`;
const VERSION = "24.21.0";
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PLACE = join(ROOT, "node_modules", ".cache", "sonde", `${NODE}-${VERSION}`);
const PREFIX = join(PLACE, "node_modules", NODE);
const NODE_24 = join(PREFIX, "bin", "node");
/** A tree of its own: our packages by link, better-sqlite3 and the built files by copy. */
const APP = join(PLACE, "app");
const SQLITE = "better-sqlite3";
/** Download and one compile on two busy cores. */
const PREPARED_WITHIN_MS = 10 * 60_000;

const run = promisify(execFile);

async function installNode(): Promise<void> {
  if (existsSync(NODE_24)) return;
  mkdirSync(PLACE, { recursive: true });
  const words = ["--no-save", "--no-audit", "--no-fund", "--prefer-offline", "--prefix", PLACE];
  await run("npm", ["install", ...words, `${NODE}@${VERSION}`], { cwd: PLACE });
}

/** Links what a package manager would install; node finds packages of the copied files here. */
function linkPackages(): void {
  const from = join(ROOT, "node_modules");
  const to = join(APP, "node_modules");
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const link = join(to, name);
    if (name.startsWith(".") || name === SQLITE) continue;
    rmSync(link, { force: true });
    symlinkSync(join(from, name), link);
  }
}

async function compileSqlite(): Promise<void> {
  const source = join(ROOT, "node_modules", SQLITE);
  const target = join(APP, "node_modules", SQLITE);
  const stamp = join(target, ".compiled");
  const { version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as { version: string };
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === version) return;
  rmSync(target, { recursive: true, force: true });
  cpSync(source, target, { recursive: true, filter: (path) => path !== join(source, "build") });
  const npm = dirname(dirname(realpathSync(findProgram("npm") ?? "")));
  const gyp = join(npm, "node_modules/node-gyp/bin/node-gyp.js");
  // The headers come with the package: nothing else is downloaded. By environment, because an npm around us may have set another one there.
  const env = { ...process.env, npm_config_nodedir: PREFIX };
  await run(NODE_24, [gyp, "rebuild", "--release"], { cwd: target, env, maxBuffer: 1 << 26 });
  writeFileSync(stamp, version);
}

function copyBuilt(): void {
  for (const name of ["dist", "package.json"]) {
    rmSync(join(APP, name), { recursive: true, force: true });
    cpSync(join(ROOT, name), join(APP, name), { recursive: true });
  }
}

async function startWebsite(): Promise<Server> {
  const server = createServer((_request, response) => response.end("hello"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

describeWith(["npm", "compiler"], "Node 24 with the node:http server", () => {
  let website: Server;

  beforeAll(async () => {
    await installNode();
    linkPackages();
    await compileSqlite();
    copyBuilt();
    website = await startWebsite();
  }, PREPARED_WITHIN_MS);

  afterAll(async () => {
    await cleanUp();
    website.close();
  });

  it("starts, answers, checks a website created through the API, and stops cleanly", { timeout: 120_000 }, async () => {
    const { port } = website.address() as AddressInfo;
    const service = await startService({
      command: [NODE_24],
      script: join(APP, "dist/cli/sonde.js"),
      env: { SONDE_HTTP: "node", SONDE_ALLOW_NETS: `127.0.0.1/32:${port}` },
    });
    const { stdout: version } = await run(NODE_24, ["--version"]);
    expect(version.trim()).toBe(`v${VERSION}`);

    const health = await fetch(`${service.url}/api/v1/health`);
    expect(health.status).toBe(200);

    const api = clientOf(service.url, service.firstKey ?? "");
    const created = await api.post<MonitorBody>("/servers", {
      type: "http",
      name: "Website",
      url: `http://127.0.0.1:${port}/`,
      interval: 60,
    });
    expect(created.status, JSON.stringify(created.body)).toBe(200);
    const { results } = await eventually(async () => {
      const { body } = await api.get<ResultsBody>(`/results/server/${created.body.id}`);
      return body.results.length > 0 ? body : undefined;
    });
    expect(results[0]).toMatchObject({ server_id: created.body.id, status: "healthy", error_message: null });

    expect(await service.stop(), service.output()).toBe(0);
  });
});
