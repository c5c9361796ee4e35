// `npm test`: prepares, then runs every suite. Further words go to vitest: npm test -- engine/
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepare, ROOT, stop } from "./prepare.mjs";

await prepare();
const folder = mkdtempSync(join(tmpdir(), "sonde-test-report-"));
const report = join(folder, "report.json");
const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
const child = spawn(process.execPath, [vitest, "run", ...reporters, ...process.argv.slice(2)], {
  cwd: ROOT,
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
