// `npm run docker:steps`: runs docker/Dockerfile's instructions by hand where there is no Docker engine, then starts what they made and
// asks its health check. Each stage is an overlay over this machine's own files, or over a base of Debian (--base FOLDER), in a mount
// namespace of its own. Needs root; changes nothing outside a temporary folder.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ROOT, stop } from "./prepare.mjs";

const { values: words } = parseArgs({ options: { base: { type: "string", default: "/" } } });
if (process.getuid() !== 0) stop("docker:steps mounts file systems: run it as root");
const START_WITHIN_MS = 60_000;
/** Docker's own environment of a container knows nothing of ours. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const PORT = "18080";
/** Where a registry behind a certificate of its own is used, Node is told of it in the same way inside. */
const CERTIFICATES = "/etc/ssl/sonde-docker-steps.pem";

const folder = mkdtempSync(join(tmpdir(), "sonde-docker-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const context = join(folder, "context");
const stages = new Map();
copyContext();

let stage;
const globals = {};
for (const { name, rest } of instructions(readFileSync(join(ROOT, "docker/Dockerfile"), "utf8"))) {
  process.stdout.write(`${name} ${rest}\n`);
  perform(name, expand(rest));
}
await proveRunning();
process.stdout.write("docker:steps: every instruction ran, and the health check passed\n");

function perform(name, rest) {
  if (name === "ARG") {
    const [key, value = ""] = rest.split("=");
    globals[key] = value;
  } else if (name === "FROM") openStage(rest);
  else if (name === "ENV") {
    for (const [, key, bare] of rest.matchAll(/(\w+)=("[^"]*"|\S+)/g))
      stage.environment[key] = bare.replace(/^"|"$/g, "");
    if (words.base === "/" && "npm_config_nodedir" in stage.environment) useOurHeaders(stage.environment);
  } else if (name === "WORKDIR") {
    stage.workdir = rest;
    mkdirSync(inStage(rest), { recursive: true });
  } else if (name === "COPY") copy(rest);
  else if (name === "RUN") inside(["sh", "-c", rest]);
  else if (name === "USER") stage.user = rest;
  else if (name === "HEALTHCHECK") stage.health = JSON.parse(rest.slice(rest.indexOf("CMD") + 3));
  else if (name === "ENTRYPOINT") stage.entrypoint = JSON.parse(rest);
  else if (name === "CMD") stage.command = JSON.parse(rest);
  else if (!["VOLUME", "EXPOSE", "STOPSIGNAL"].includes(name)) stop(`docker:steps does not know ${name}`);
}

/** The image has Node and its headers in /usr/local; this machine elsewhere, or npm knows where. */
function useOurHeaders(environment) {
  const prefix = dirname(dirname(process.execPath));
  if (existsSync(join(prefix, "include/node/common.gypi"))) environment.npm_config_nodedir = prefix;
  else delete environment.npm_config_nodedir;
}

/** One per instruction: comments gone, continued lines joined. */
function instructions(text) {
  return text
    .split("\n")
    .filter((line) => !line.trimStart().startsWith("#"))
    .join("\n")
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => ({ name: line.split(" ")[0], rest: line.slice(line.indexOf(" ") + 1).trim() }));
}

function expand(text) {
  return text.replace(/\$\{(NODE|DEBIAN|GO)\}/g, (_, key) => globals[key]);
}

function openStage(rest) {
  const [from, , name = "last"] = rest.split(" ");
  const root = join(folder, name);
  const [upper, work, merged] = ["upper", "work", "merged"].map((part) => join(root, part));
  for (const place of [upper, work, merged]) mkdirSync(place, { recursive: true });
  const parent = stages.get(from) ?? { environment: { PATH }, workdir: "/", user: "0:0" };
  // A copy: an overlay refuses a layer that lies in another one, and all of them lie in the lowest.
  if (parent.upper !== undefined) execFileSync("cp", ["--archive", `${parent.upper}/.`, upper]);
  stage = { ...parent, environment: { ...parent.environment }, root, upper, work, merged };
  stages.set(name, stage);
}

/** Files that the instructions make lie in the overlay's upper folder. */
function inStage(path) {
  return join(stage.upper, resolve(stage.workdir, path));
}

/** Where a stage has a file: from its instructions, else from this machine. */
function found(path, from) {
  const whole = resolve(from.workdir, path);
  return [from.upper, words.base].map((layer) => join(layer, whole)).find((place) => existsSync(place));
}

function copy(rest) {
  const [, from, list] = rest.match(/^(?:--from=(\S+)\s+)?(.*)$/);
  const places = list.split(/\s+/);
  const to = places.pop();
  for (const place of places) {
    const source = from === undefined ? join(context, place) : found(place, stages.get(from));
    const isFolder = execFileSync("stat", ["-c", "%F", source], { encoding: "utf8" }).trim() === "directory";
    const target = isFolder ? inStage(to) : to.endsWith("/") ? join(inStage(to), place.split("/").pop()) : inStage(to);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(source, target, { recursive: true, verbatimSymlinks: true });
  }
}

/** The command line that runs a program in the stage, as its user, with its environment and nothing of ours. */
function enter(command, { user = "0:0", environment = stage.environment } = {}) {
  const [uid, gid] = user.split(":");
  const script = [
    `mount -t overlay overlay -o lowerdir=${words.base},upperdir=${stage.upper},workdir=${stage.work} ${stage.merged}`,
    `mount --rbind /dev ${stage.merged}/dev`,
    `mount -t proc proc ${stage.merged}/proc`,
    `mount -t tmpfs tmpfs ${stage.merged}/tmp`,
    // Where names are looked up is this machine's matter.
    `cp -L /etc/resolv.conf /etc/hosts ${stage.merged}/etc/ 2>/dev/null || true`,
    'exec "$@"',
  ].join(" && ");
  const inner = `cd "$1" && shift && exec setpriv --reuid=${uid} --regid=${gid} --clear-groups "$@"`;
  const variables = Object.entries(environment).map(([key, value]) => `${key}=${value}`);
  const chroot = ["env", "-i", ...variables, "chroot", stage.merged, "sh", "-c", inner, "sh", stage.workdir];
  return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", ...chroot, ...command];
}

function inside(command) {
  const environment = { ...stage.environment, HOME: "/root" };
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  if (certificates !== undefined) {
    mkdirSync(dirname(inStage(CERTIFICATES)), { recursive: true });
    cpSync(certificates, inStage(CERTIFICATES));
    environment.NODE_EXTRA_CA_CERTS = CERTIFICATES;
  }
  const [program, ...rest] = enter(command, { environment });
  const began = Date.now();
  try {
    execFileSync(program, rest, { stdio: ["ignore", "inherit", "inherit"] });
  } catch (error) {
    stop(`docker:steps: a RUN failed with ${error.status ?? error.code}; the reason is above`);
  }
  process.stdout.write(`  (${Math.round((Date.now() - began) / 1_000)} s)\n`);
}

/** The build context as .dockerignore leaves it: the last pattern that matches a path or a folder above it decides. */
function copyContext() {
  const rules = readFileSync(join(ROOT, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const pattern = line
        .replace(/^!/, "")
        .replaceAll(".", "\\.")
        .replaceAll("**/", "(.+/)?")
        .replace(/(?<!\()\*/g, "[^/]*");
      return { keeps: line.startsWith("!"), pattern: new RegExp(`^${pattern}(/|$)`) };
    });
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  for (const path of listed.toString().split("\0")) {
    const rule = rules.findLast(({ pattern }) => pattern.test(path));
    if (path === "" || rule?.keeps === false) continue;
    mkdirSync(dirname(join(context, path)), { recursive: true });
    cpSync(join(ROOT, path), join(context, path), { force: true });
  }
  writeFileSync(join(context, ".complete"), "");
}

/** ENTRYPOINT and CMD as the image's user, until HEALTHCHECK passes; then its stop signal. */
async function proveRunning() {
  const environment = { ...stage.environment, SONDE_PORT: PORT, SONDE_HOST: "127.0.0.1" };
  const given = { user: stage.user, environment };
  const [program, ...rest] = enter([...stage.entrypoint, ...stage.command], given);
  const child = spawn(program, rest, { stdio: ["ignore", "inherit", "inherit"] });
  const ended = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
  let isRunning = true;
  void ended.then(() => {
    isRunning = false;
  });
  const deadline = Date.now() + START_WITHIN_MS;
  while (isRunning && !isHealthy(given)) {
    if (Date.now() > deadline) {
      child.kill("SIGKILL");
      stop("docker:steps: the health check did not pass in time");
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  if (!isRunning) stop("docker:steps: the image's command ended at once; the reason is above");
  child.kill("SIGTERM");
  const code = await ended;
  if (code !== 0) stop(`docker:steps: stopping ended with ${code}`);
}

function isHealthy({ environment }) {
  // The check needs the image's Node and the network only: a second mount of the same overlay is not allowed.
  const [program, ...rest] = stage.health;
  try {
    execFileSync(program, rest, { env: { ...environment, PATH: process.env.PATH }, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
