// Brings a fresh clone to where it can run: right Node, pinned dependencies, built sources. Plain JavaScript: runs before anything is installed.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { prune, SQLITE, takeOutStale } from "./prune.mjs";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
const NODE_MODULES = join(ROOT, "node_modules");
const OLDEST_NODE = [20, 19, 0];

/** Says why and what to do in one line, and ends with 1. */
export function stop(line) {
  process.stderr.write(`sonde: ${line}\n`);
  process.exit(1);
}

/** Everything that a start or a test run needs; a moment when nothing has changed. */
export async function prepare() {
  await install();
  await build();
  await buildPage();
}

function checkNode() {
  const version = process.versions.node.split(".").map(Number);
  const isOld = OLDEST_NODE.some(
    (part, i) => version[i] < part && OLDEST_NODE.slice(0, i).every((p, j) => version[j] === p),
  );
  if (isOld)
    stop(
      `Node ${process.versions.node} is too old: install Node ${OLDEST_NODE.join(".")} or newer (Node 20 and 24 are tested)`,
    );
  if (process.platform !== "linux")
    stop(`this runs on Linux (Debian or Ubuntu), not on ${process.platform}: use the Dockerfile in docker/`);
}

/** The right Node, the locked dependencies, native modules that load. */
export async function install() {
  checkNode();
  const stamp = join(NODE_MODULES, ".sonde-installed");
  const wanted = () => hashOf(readFileSync(join(ROOT, "package-lock.json")), process.versions.modules, process.arch);
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted()) {
    takeOutStale(NODE_MODULES, sqliteLoads);
    // `npm ci` takes what is locked or fails; where packages are there already, `npm install` brings what differs and keeps what was compiled.
    const command = existsSync(join(NODE_MODULES, ".package-lock.json")) ? "install" : "ci";
    const words = [command, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    await step("installing the pinned dependencies (about two minutes the first time)", "npm", words);
    await checkNativeModules();
    prune(NODE_MODULES);
    // Vitest empties it when the lock file has changed, and the runs of `npm test` that begin beside each other would do so to each other.
    rmSync(join(NODE_MODULES, ".experimental-vitest-cache"), { recursive: true, force: true });
    writeFileSync(stamp, wanted());
  }
}

/** better-sqlite3 12 is built for one version of Node: another one needs it built again. Which line is used: store/sqlite-library.ts. */
async function checkNativeModules() {
  if (sqliteLoads()) return;
  const words = ["rebuild", "better-sqlite3", "--ignore-scripts=false", "--loglevel=error"];
  await step("compiling better-sqlite3 (about a minute)", "npm", words);
  if (!sqliteLoads()) stop(NEEDS_COMPILER);
}

function sqliteLoads() {
  const script = `new (require('${SQLITE}'))(':memory:').close()`;
  return spawnSync(process.execPath, ["-e", script], { cwd: ROOT, stdio: "ignore" }).status === 0;
}

async function build() {
  const stamp = join(ROOT, "dist", ".sonde-built");
  const states = sourceStates();
  const wanted = hashOf(...states.map(({ name, state }) => `${name} ${state}`));
  const built = existsSync(stamp) ? readFileSync(stamp, "utf8").split("\n") : [];
  if (built[0] === wanted) return;
  // What was built from a source that is gone must go too.
  const names = new Set(states.map(({ name }) => name));
  if (built.slice(1).some((name) => !names.has(name))) rmSync(join(ROOT, "dist"), { recursive: true, force: true });
  await step("building", process.execPath, [
    join(ROOT, "node_modules/typescript/bin/tsc"),
    "-p",
    "tsconfig.build.json",
  ]);
  await step("bundling", process.execPath, [join(ROOT, "scripts/bundle.mjs")]);
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  writeFileSync(stamp, [wanted, ...names].join("\n"));
}

/** After the sources: a source that is gone takes dist/ with it. */
async function buildPage() {
  // A checkout without its sources is a service without a page.
  if (!existsSync(join(ROOT, "web"))) return;
  const stamp = join(ROOT, "dist", ".sonde-page-built");
  const states = pageStates();
  const wanted = hashOf(...states.map(({ name, state }) => `${name} ${state}`));
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  await step("building the page", process.execPath, [join(ROOT, "scripts/page.mjs")]);
  writeFileSync(stamp, wanted);
}

/** The page's own sources, what it imports of ours, and what builds it. */
function pageStates() {
  const isSource = (name) => !/\.test\.ts$|(^|\/)(generate|node_modules)\//.test(name) && /\.\w+$/.test(name);
  const inside = ["web", "model"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .filter(isSource)
      .map((name) => join(folder, name)),
  );
  return statesOf(["package-lock.json", "scripts/page.mjs", ...inside]);
}

/** Name, size and time of every source of the build: enough to know whether the last build still holds. */
function sourceStates() {
  const top = readdirSync(ROOT).filter(
    (name) => name.endsWith(".ts") || name.startsWith("tsconfig") || name === "package-lock.json",
  );
  const { include } = JSON.parse(readFileSync(join(ROOT, "tsconfig.build.json"), "utf8"));
  const folders = include.filter((name) => !name.endsWith(".ts") && existsSync(join(ROOT, name)));
  const inside = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .filter((name) => name.endsWith(".ts") && !/\.(test|suite)\.ts$/.test(name))
      .map((name) => join(folder, name)),
  );
  return statesOf(["scripts/bundle.mjs", ...top, ...inside]);
}

function statesOf(names) {
  return names.sort().map((name) => {
    const { size, mtimeMs } = statSync(join(ROOT, name));
    return { name, state: `${size} ${mtimeMs}` };
  });
}

function hashOf(...parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\n");
  return hash.digest("hex");
}

/** What a failed step's output means, and what to do about it. */
const NEEDS_COMPILER =
  "better-sqlite3 neither downloaded nor compiled: apt-get install g++ make python3 (Debian and Ubuntu), then start again";
/** The first sign that is found decides: a compile that fails has often failed to download first. */
const CAUSES = [
  [/ENOSPC/, "the disk is full: about 1.5 GB are needed"],
  [
    /gyp ERR.*(ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|FetchError|network connectivity)/,
    "better-sqlite3 cannot be compiled, because Node's headers cannot be downloaded: set npm_config_nodedir to the folder that has include/node",
  ],
  [/gyp ERR|node-gyp/, NEEDS_COMPILER],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/,
    "the package registry cannot be reached: check the network and npm's settings",
  ],
  [/EACCES|EPERM|EROFS/, `this folder is not writable for this user: ${ROOT}`],
  [
    /EBADENGINE|Unsupported engine/,
    `npm refuses this Node: use Node ${OLDEST_NODE.join(".")} or newer (20 and 24 are tested)`,
  ],
];
/** Without a terminal, a sign of life this often, ms. */
const SIGN_OF_LIFE_MS = 20_000;

/** Runs one long step with a line that shows it is alive; its own output is shown only when it fails. */
function step(what, command, args) {
  return new Promise((resolve) => {
    const startedAt = Date.now();
    const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
    const isTerminal = process.stderr.isTTY === true;
    process.stderr.write(isTerminal ? `${what} …` : `${what} …\n`);
    const timer = isTerminal
      ? setInterval(() => process.stderr.write(`\r${what} … ${seconds()}`), 500)
      : setInterval(() => process.stderr.write(`${what} … ${seconds()}\n`), SIGN_OF_LIFE_MS);
    const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        output = (output + chunk).slice(-20_000);
      });
    }
    child.on("error", (error) => {
      clearInterval(timer);
      stop(`${what}: cannot run ${command} (${error.code}); install Node with npm`);
    });
    child.on("close", (code) => {
      clearInterval(timer);
      if (isTerminal) process.stderr.write(`\r${what} … ${seconds()}\n`);
      if (code === 0) return resolve();
      process.stderr.write(output);
      const cause = CAUSES.find(([sign]) => sign.test(output))?.[1];
      stop(`${what.replace(/ \(.*/, "")} failed: ${cause ?? `the reason is above (code ${code})`}`);
    });
  });
}
