// `npm run verify`: everything about the sources that a machine can check. All steps run, also after one has failed.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { install, ROOT, stop } from "./prepare.mjs";

const bin = (name) => join(ROOT, "node_modules", ".bin", name);

/** What a step finds is printed; one that finds something has failed. */
const STEPS = [
  { name: "types", run: () => tool(bin("tsc"), "-p", "tsconfig.json", "--noEmit") },
  { name: "types of the page", run: () => tool(bin("tsc"), "-p", "web/tsconfig.json", "--noEmit") },
  { name: "what the page imports", run: () => own("page", "strayImports") },
  { name: "circles of the page", run: () => own("page", "circles") },
  { name: "the page's types are the API's", run: () => own("page", "staleTypes") },
  {
    name: "lint and format",
    run: () =>
      tool(
        bin("biome"),
        "ci",
        "--colors=off",
        "--reporter=concise",
        "--max-diagnostics=200",
        "--error-on-warnings",
        ".",
      ),
  },
  {
    name: "import rules and cycles",
    run: () => tool(bin("depcruise"), "--config", ".dependency-cruiser.cjs", "--output-type", "err-long", "."),
  },
  { name: "unused files, exports and dependencies", run: () => tool(bin("knip"), "--no-progress") },
  { name: "pure code", run: () => own("pure", "impurities") },
  { name: "file sizes", run: () => own("layout", "tooLong") },
  { name: "lengths of functions", run: () => own("functions", "longFunctions") },
  { name: "references resolve", run: () => own("references", "unresolved") },
  { name: "words for persons", run: () => own("references", "forbiddenWords") },
  { name: "names of the field", run: () => own("names", "privateNames") },
  { name: "names and places", run: () => own("layout", "misplaced") },
  { name: "threads start in few places", run: () => own("threads", "strayThreads") },
  { name: "decoders are fuzzed", run: () => own("fuzzed", "unfuzzedDecoders") },
  { name: "readers are measured", run: () => own("fuzzed", "untimedReaders") },
  { name: "expressions are linear", run: () => own("expressions", "superLinear") },
  { name: "settings are documented", run: () => own("layout", "undocumentedSettings") },
  { name: "commands are documented", run: () => own("layout", "undocumentedCommands") },
  { name: "locks are for every platform", run: () => own("release", "incompleteLocks") },
  { name: "release notes", run: () => own("release", "releaseFaults") },
  { name: "documents' commands are run", run: () => own("blocks", "unclassifiedBlocks") },
];

/** @returns the output of a tool that failed, undefined of one that did not */
function tool(command, ...args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1" },
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    child.on("error", (error) => resolve(`cannot run ${command} (${error.code}): run npm install first`));
    child.on("close", (code) => resolve(code === 0 ? undefined : output.trim() || `ended with code ${code}`));
  });
}

async function own(module, check) {
  const checks = await import(`./verify/${module}.mjs`);
  const findings = await checks[check]();
  return findings.length === 0 ? undefined : findings.join("\n");
}

/** Steps at the same time; lines come as steps end. */
const LANES = 2;

async function lane() {
  for (let step = STEPS[next++]; step !== undefined; step = STEPS[next++]) {
    const stepStartedAt = performance.now();
    const findings = await step.run().catch((error) => String(error?.stack ?? error));
    const seconds = ((performance.now() - stepStartedAt) / 1_000).toFixed(1);
    process.stdout.write(`${findings === undefined ? "ok  " : "FAIL"} ${step.name} (${seconds} s)\n`);
    if (findings === undefined) continue;
    failed.push(step.name);
    process.stdout.write(`${findings.replace(/^/gm, "     ")}\n`);
  }
}

await install();
const failed = [];
const startedAt = performance.now();
let next = 0;
await Promise.all(Array.from({ length: LANES }, lane));
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
if (failed.length > 0)
  stop(`verify: ${failed.length} of ${STEPS.length} steps failed (${failed.join(", ")}), ${seconds} s`);
process.stdout.write(`verify: ${STEPS.length} steps passed, ${seconds} s\n`);
