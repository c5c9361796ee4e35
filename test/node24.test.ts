/**
 * The built service on Node 24, from its npm package. Node 24 comes with the line of better-sqlite3 that it needs (store/sqlite-library.ts), as
 * package.json names it.
 */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { listen } from "../demo/loopback.ts";
import { clientOf, type MonitorBody, type ResultsBody } from "./client.ts";
import { describeWith } from "./prerequisites.ts";
import { cleanUp, eventually, startService } from "./service.ts";

const NODE = `node-linux-${process.arch}`;
const VERSION = "24.21.0";
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PLACE = join(ROOT, "node_modules", ".cache", "sonde", `${NODE}-${VERSION}`);
const PREFIX = join(PLACE, "node_modules", NODE);
const NODE_24 = join(PREFIX, "bin", "node");
/** A tree of its own: our packages by link, the built files by copy. */
const APP = join(PLACE, "app");
/** What Node 24 takes instead of better-sqlite3 12, which is left out: a module that imports it by its old name fails here. */
const SQLITE = "better-sqlite3-napi";
/** A download of 50 MB on two busy cores. */
const PREPARED_WITHIN_MS = 5 * 60_000;

const run = promisify(execFile);

async function installNode(): Promise<void> {
  if (existsSync(NODE_24) && existsSync(join(PLACE, "node_modules", SQLITE))) return;
  mkdirSync(PLACE, { recursive: true });
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    optionalDependencies: Record<string, string>;
  };
  // npm itself runs on the older Node here.
  const words = [
    "--no-save",
    "--no-audit",
    "--no-fund",
    "--prefer-offline",
    "--engine-strict=false",
    "--prefix",
    PLACE,
  ];
  const packages = [`${NODE}@${VERSION}`, `${SQLITE}@${optionalDependencies[SQLITE]}`];
  await run("npm", ["install", ...words, ...packages], { cwd: PLACE });
}

/** Links what a package manager would install; node finds packages of the copied files here. */
function linkPackages(): void {
  const to = join(APP, "node_modules");
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (!name.startsWith(".") && !name.startsWith("better-sqlite3"))
      symlinkSync(join(ROOT, "node_modules", name), join(to, name));
  }
  symlinkSync(join(PLACE, "node_modules", SQLITE), join(to, SQLITE));
}

function copyBuilt(): void {
  for (const name of ["dist", "package.json"]) {
    rmSync(join(APP, name), { recursive: true, force: true });
    cpSync(join(ROOT, name), join(APP, name), { recursive: true });
  }
}

describeWith(["npm"], "Node 24", () => {
  const website = createServer((_request, response) => response.end("hello"));

  beforeAll(async () => {
    await installNode();
    linkPackages();
    copyBuilt();
  }, PREPARED_WITHIN_MS);

  afterAll(async () => {
    await cleanUp();
    website.close();
  });

  it("starts, answers, checks a website created through the API, and stops cleanly", { timeout: 120_000 }, async () => {
    const port = await listen(website);
    const service = await startService({
      command: [NODE_24],
      script: join(APP, "dist/cli/sonde.js"),
      env: { SONDE_ALLOW_NETS: `127.0.0.1/32:${port}` },
    });
    const { stdout: version } = await run(NODE_24, ["--version"]);
    expect(version.trim()).toBe(`v${VERSION}`);

    // A name that RFC 9110 allows, and some servers keep without an answer.
    const health = await fetch(`${service.url}/api/v1/health`, { headers: { X_Id: "1" } });
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
