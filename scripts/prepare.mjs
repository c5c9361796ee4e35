// Brings a fresh clone to where it can run: right Node, pinned dependencies, built sources. Plain JavaScript: runs before anything is installed.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OLDEST_NODE = [20, 18, 1];
const SOURCE_FOLDERS = ["model", "native", "engine", "store", "scheduler", "api", "cli", "demo", "bench"];

/** Says why and what to do in one line, and ends with 1. */
export function stop(line) {
  process.stderr.write(`sonde: ${line}\n`);
  process.exit(1);
}

export async function prepare() {
  checkNode();
  await install();
  checkNativeModules();
  await build();
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

async function install() {
  const stamp = join(ROOT, "node_modules", ".sonde-installed");
  const wanted = hashOf(readFileSync(join(ROOT, "package-lock.json")), process.versions.modules, process.arch);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  // `npm install` with the lock file installs exactly what is locked, also where a registry lacks other systems' optional packages.
  await step("installing the pinned dependencies (about two minutes the first time)", "npm", [
    "install",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ]);
  writeFileSync(stamp, wanted);
}

function checkNativeModules() {
  const require = createRequire(join(ROOT, "package.json"));
  try {
    const Database = require("better-sqlite3");
    new Database(":memory:").close();
  } catch {
    stop(
      "better-sqlite3 neither downloaded nor compiled: apt-get install build-essential python3, remove node_modules, and start again",
    );
  }
}

async function build() {
  const stamp = join(ROOT, "dist", ".sonde-built");
  const wanted = hashOf(...sourceStates());
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  await step("building", process.execPath, [
    join(ROOT, "node_modules/typescript/bin/tsc"),
    "-p",
    "tsconfig.build.json",
  ]);
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  writeFileSync(stamp, wanted);
}

/** Name, size and time of every source: enough to know whether the last build still holds. */
function sourceStates() {
  const top = readdirSync(ROOT).filter(
    (name) => name.endsWith(".ts") || name.startsWith("tsconfig") || name === "package-lock.json",
  );
  const inside = SOURCE_FOLDERS.filter((folder) => existsSync(join(ROOT, folder))).flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(folder, name)),
  );
  return [...top, ...inside].sort().map((name) => {
    const { size, mtimeMs } = statSync(join(ROOT, name));
    return `${name} ${size} ${mtimeMs}`;
  });
}

function hashOf(...parts) {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\n");
  return hash.digest("hex");
}

/** Runs one long step with a line that shows it is alive; its own output is shown only when it fails. */
function step(what, command, args) {
  return new Promise((resolve) => {
    const startedAt = Date.now();
    const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
    const isTerminal = process.stderr.isTTY === true;
    process.stderr.write(isTerminal ? `${what} …` : `${what} …\n`);
    const timer = isTerminal ? setInterval(() => process.stderr.write(`\r${what} … ${seconds()}`), 500) : undefined;
    const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        output = (output + chunk).slice(-20_000);
      });
    }
    child.on("error", (error) => stop(`${what}: cannot run ${command} (${error.code})`));
    child.on("close", (code) => {
      clearInterval(timer);
      if (isTerminal) process.stderr.write(`\r${what} … ${seconds()}\n`);
      if (code === 0) return resolve();
      process.stderr.write(output);
      stop(`${what} failed with code ${code}; the reason is above`);
    });
  });
}
