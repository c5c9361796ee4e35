// `npm test`: prepares, then runs every suite. Further words go to vitest: npm test -- engine/
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { prepare, ROOT, stop } from "./prepare.mjs";

/**
 * Machines are shared: what a neighbour starved is looked at once more, by itself, as we do with targets. Failing twice is failing, and so is
 * failing in many places.
 */
const MOST_LOOKED_AT_AGAIN = 5;
/** As the embedded ClickHouse of a service, which the units may not starve (store/results/embedded/front-process.ts). */
const GIVES_WAY = ["nice", "-n", "10"];
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

/** Each vitest of ours that has not ended. */
const running = new Set();

await prepare();
const cores = await coresForLabs();
const words = process.argv.slice(2);
const first = words.length > 0 ? await run(words) : await everything();
const failed = first.files.filter(({ status }) => status === "failed").map(({ name }) => name);
// Only of those that share the machine with servers; what needs nothing but its module has no excuse, nor has an error of no test.
const mayBeLookedAt = failed.every((name) => relative(ROOT, name).startsWith("test/")) && first.unhandled === 0;
const again = mayBeLookedAt && failed.length <= MOST_LOOKED_AT_AGAIN ? failed : [];
let { files, code } = first;
if (again.length > 0) {
  process.stdout.write(`\nlooked at again, alone:\n${again.join("\n")}\n`);
  const second = await run([...again, "--no-file-parallelism"]);
  files = [...files.filter(({ name }) => !again.includes(name)), ...second.files];
  code = second.code;
}
const counts = countsOf(files);
for (const name of again) process.stdout.write(`needed a second look: ${relative(ROOT, name)}\n`);
for (const name of counts.skippedSuites) process.stdout.write(`skipped: ${name}\n`);
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
if (process.env.CI === "true" && counts.skipped > 0) stop("with CI=true nothing may be skipped");
process.exit(code);

/**
 * All suites. Those that wait are beside the units, which keep the processors busy meanwhile: one after the other would leave a fourth of two
 * cores unused. The units give way, for what waits must be on time when it has waited.
 * @returns as run does
 */
async function everything() {
  const asProjects = (names) => names.map((name) => `--project=${name}`);
  const beside = await Promise.all([
    run(asProjects(["unit"]), { before: GIVES_WAY }),
    run(asProjects(["cut-off", "patient"]), { isShownAtEnd: true }),
  ]);
  const runs = [...beside, await run(asProjects(["servers", "alone", "starved"]))];
  return {
    files: runs.flatMap(({ files }) => files),
    code: runs.find(({ code }) => code !== 0)?.code ?? 0,
    unhandled: runs.reduce((sum, { unhandled }) => sum + unhandled, 0),
  };
}

/**
 * Vitest once.
 * @param words its own
 * @param how words before its command; whether what it writes is kept until it has ended, because another one writes meanwhile
 * @returns what became of each file, the exit code, and how many errors belonged to no test
 */
async function run(words, { before = [], isShownAtEnd = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "sonde-test-report-"));
  const report = join(folder, "report.json");
  const unhandled = join(folder, "unhandled");
  const reporters = ["default", "json", join(ROOT, "scripts/unhandled-reporter.mjs")].map(
    (name) => `--reporter=${name}`,
  );
  const vitest = [process.execPath, VITEST, "run", ...reporters, `--outputFile.json=${report}`, ...words];
  const [program, ...programWords] = [...before, ...vitest];
  const child = spawn(program, programWords, {
    cwd: ROOT,
    env: { ...process.env, ...cores, SONDE_TEST_UNHANDLED: unhandled },
    stdio: ["ignore", ...(isShownAtEnd ? ["pipe", "pipe"] : ["inherit", "inherit"])],
  });
  running.add(child);
  const kept = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => kept.push(chunk));
  let isInterrupted = false;
  const pass = (signal) => {
    isInterrupted = true;
    child.kill(signal);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, pass);
  const [code, signal] = await once(child, "close");
  for (const one of ["SIGINT", "SIGTERM"]) process.off(one, pass);
  running.delete(child);
  process.stdout.write(Buffer.concat(kept));
  const files = readReport(report);
  const unhandledCount = existsSync(unhandled) ? Number(readFileSync(unhandled, "utf8")) : 0;
  rmSync(folder, { recursive: true, force: true });
  if (files === undefined || isInterrupted || signal !== null) {
    for (const other of running) other.kill();
    stop(`the tests ended early (${signal ?? `code ${code}`})`);
  }
  return { files, code, unhandled: unhandledCount };
}

/**
 * The labs of share links need xray and sing-box: those of the machine, or built once where Go is and kept beside the packages. A run of some
 * files takes what is there.
 * @returns the settings that name them
 */
async function coresForLabs() {
  const built = (file) => import(pathToFileURL(join(ROOT, "dist", "engine", "cores", file)).href);
  const { ENGINES, findCore } = await built("program.js");
  const { loadCorePaths } = await import(pathToFileURL(join(ROOT, "dist", "config.js")).href);
  const cache = join(ROOT, "node_modules", ".cache");
  // For every user: a folder of cores is closed to others, and so would be all that is made on the way to it.
  mkdirSync(cache, { recursive: true });
  const dataDir = join(cache, "sonde", "cores");
  const mayBuild = process.argv.length <= 2 && spawnSync("go", ["version"]).status === 0;
  const settings = {};
  for (const engine of ENGINES) {
    let found = findCore(engine, loadCorePaths()) ?? findCore(engine, loadCorePaths({ SONDE_DATA_DIR: dataDir }));
    if (found === undefined && mayBuild) {
      process.stdout.write(`building ${engine} for the labs (a minute or two, once) …\n`);
      found = await (await built("install.js")).installCore(engine, dataDir).catch((error) => stop(String(error)));
    }
    if (found !== undefined) settings[engine === "xray" ? "SONDE_XRAY" : "SONDE_SING_BOX"] = found.path;
  }
  return settings;
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).testResults;
  } catch {
    return undefined;
  }
}

function countsOf(files) {
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  const skipped = tests.filter(({ status }) => status === "skipped" || status === "pending" || status === "todo");
  const failed = (of) => of.filter(({ status }) => status === "failed").length;
  // A file that does not even load has no tests of its own to count.
  const broken = files.filter(
    ({ status, assertionResults }) => status === "failed" && failed(assertionResults) === 0,
  ).length;
  return {
    passed: tests.filter(({ status }) => status === "passed").length,
    failed: failed(tests) + broken,
    skipped: skipped.length,
    skippedSuites: new Set(skipped.map(({ ancestorTitles, title }) => ancestorTitles[0] || title)),
  };
}
