// `npm test`: prepares, then runs every suite. Further words go to vitest: npm test -- engine/
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { prepare, ROOT, stop } from "./prepare.mjs";

await prepare();
const cores = await coresForLabs();
const folder = mkdtempSync(join(tmpdir(), "sonde-test-report-"));
const report = join(folder, "report.json");
const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
const child = spawn(process.execPath, [vitest, "run", ...reporters, ...process.argv.slice(2)], {
  cwd: ROOT,
  env: { ...process.env, ...cores },
  stdio: ["ignore", "inherit", "inherit"],
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("close", (code, signal) => {
  const counts = readCounts();
  rmSync(folder, { recursive: true, force: true });
  if (counts === undefined) stop(`the tests ended without a report (${signal ?? `code ${code}`})`);
  for (const name of counts.skippedSuites) process.stdout.write(`skipped: ${name}\n`);
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
  if (process.env.CI === "true" && counts.skipped > 0) stop("with CI=true nothing may be skipped");
  process.exit(code ?? 1);
});

/**
 * The labs of share links need xray and sing-box: those of the machine, or built once where Go is and kept beside the packages. A run of some
 * files takes what is there.
 * @returns the settings that name them
 */
async function coresForLabs() {
  const built = (file) => import(pathToFileURL(join(ROOT, "dist", "engine", "cores", file)).href);
  const { ENGINES, findCore } = await built("program.js");
  const { loadCorePlaces } = await import(pathToFileURL(join(ROOT, "dist", "config.js")).href);
  const dataDir = join(ROOT, "node_modules", ".cache", "sonde", "cores");
  const mayBuild = process.argv.length <= 2 && spawnSync("go", ["version"]).status === 0;
  const settings = {};
  for (const engine of ENGINES) {
    let found = findCore(engine, loadCorePlaces()) ?? findCore(engine, loadCorePlaces({ SONDE_DATA_DIR: dataDir }));
    if (found === undefined && mayBuild) {
      process.stdout.write(`building ${engine} for the labs (a minute or two, once) …\n`);
      found = await (await built("install.js")).installCore(engine, dataDir).catch((error) => stop(String(error)));
    }
    if (found !== undefined) settings[engine === "xray" ? "SONDE_XRAY" : "SONDE_SING_BOX"] = found.path;
  }
  return settings;
}

function readCounts() {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
      readFileSync(report, "utf8"),
    );
    // A file that does not even load has no tests of its own to count.
    const broken = testResults.filter(
      ({ status, assertionResults }) =>
        status === "failed" && !assertionResults.some((test) => test.status === "failed"),
    ).length;
    const skipped = testResults.flatMap(({ assertionResults }) =>
      assertionResults.filter(({ status }) => status === "skipped" || status === "pending" || status === "todo"),
    );
    return {
      passed: numPassedTests,
      failed: numFailedTests + broken,
      skipped: numPendingTests + numTodoTests,
      skippedSuites: new Set(skipped.map(({ ancestorTitles, title }) => ancestorTitles[0] || title)),
    };
  } catch {
    return undefined;
  }
}
