// Sizes, names and places of files.
import { readdirSync } from "node:fs";
import { files, isTest, ROOT, sources, text } from "./sources.mjs";

const LONGEST_LINES = 500;
/** Made by a program, and read by one. */
const GENERATED = new Set(["web/api/schema.d.ts"]);
/** Shared suites against two or three adapters are one list of cases each. */
const LONGEST_TEST_LINES = 1_200;
const NAMES_THAT_SAY_NOTHING = /(^|\/)(utils?|helpers?|common|manager|base|misc)\.(ts|mjs)$/;
/** Top-level folders; a new room gets its arrows in .dependency-cruiser.cjs and its name here. */
const ROOMS = new Set(
  "roles model native engine store scheduler checker api cli demo web bench testkit test scripts docker docs .ci".split(
    " ",
  ),
);
/** Of a machine, not of the project. */
const MACHINE_PATHS = /(^|[\s"'`(=:])\/(work|root|home\/[a-z]+)\/|\/tmp\/bash_jobs/;

export function tooLong() {
  return sources().flatMap((path) => {
    if (GENERATED.has(path)) return [];
    const lines = text(path).split("\n").length - 1;
    const most = isTest(path) ? LONGEST_TEST_LINES : LONGEST_LINES;
    return lines > most ? [`${path} has ${lines} lines, more than ${most}`] : [];
  });
}

export function misplaced() {
  const all = files();
  return [
    ...all.filter((path) => NAMES_THAT_SAY_NOTHING.test(path)).map((path) => `${path}: a name that says nothing`),
    ...new Set(
      all
        .filter((path) => path.includes("/") && !ROOMS.has(path.split("/")[0]))
        .map((path) => `${path.split("/")[0]}/: a folder that no rule knows (scripts/verify/layout.mjs)`),
    ),
    ...machinePaths(),
    ...clashingDecisions(),
  ];
}

function machinePaths() {
  return files()
    .filter((path) => path !== "package-lock.json" && path !== "scripts/verify/layout.mjs")
    .flatMap((path) =>
      text(path)
        .split("\n")
        .flatMap((line, i) => (MACHINE_PATHS.test(line) ? [`${path}:${i + 1} names a path of one machine`] : [])),
    );
}

const SETTINGS = "docs/use/settings.md";
const COMMANDS = "docs/use/command-line.md";
const LONGEST_README_LINES = 150;

/** Every setting that the program reads is in the table of settings. */
export function undocumentedSettings() {
  const read = new Set(text("config.ts").match(/\bSONDE_[A-Z_]+\b/g));
  const table = text(SETTINGS) ?? "";
  const missing = [...read].filter((name) => !new RegExp(`\\b${name}\\b`).test(table));
  const stale = [...new Set(table.match(/\bSONDE_[A-Z_]+\b/g))].filter((name) => !read.has(name));
  return [
    ...missing.map((name) => `${SETTINGS} does not explain ${name}`),
    ...stale.map((name) => `${SETTINGS} explains ${name}, which config.ts does not read`),
  ];
}

/** Every command has its line, and the README is short enough to be read. */
export function undocumentedCommands() {
  const commands = text(COMMANDS) ?? "";
  const readme = text("README.md")?.split("\n").length ?? 0;
  const long =
    readme > LONGEST_README_LINES ? [`README.md has ${readme} lines, more than ${LONGEST_README_LINES}`] : [];
  const missing = readdirSync(`${ROOT}/cli/commands`)
    .filter((name) => name !== "index.ts" && !isTest(name))
    .map((name) => name.replace(/\.ts$/, ""))
    .filter((name) => !commands.includes(`sonde ${name}`))
    .map((name) => `${COMMANDS} does not explain \`sonde ${name}\``);
  return [...long, ...missing];
}

/** A record of a decision is cited by its number. */
function clashingDecisions() {
  const numbers = readdirSync(`${ROOT}/docs/decisions`).map((name) => name.slice(0, 4));
  const clashing = [...new Set(numbers.filter((number, index) => numbers.indexOf(number) !== index))];
  return clashing.map((number) => `docs/decisions: two records have the number ${number}`);
}
