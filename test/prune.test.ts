/** What `npm start` and the image take out of node_modules is nothing that is needed: the pruned native packages load and work. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PRUNE = join(ROOT, "scripts/prune.mjs");
/** Two files of half of it. */
const MADE_UP_MIB = 8;
/** Native packages and what they load themselves. */
const PACKAGES = ["better-sqlite3", "bindings", "file-uri-to-path", "koffi", "@koromix", "swagger-ui-dist"];

// Beside node_modules, so that the copies can be hard links: 300 MB otherwise.
const cache = join(ROOT, "node_modules/.cache/sonde");
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, "prune-"));
const pruned = join(folder, "node_modules");
let said = "";

beforeAll(() => {
  mkdirSync(pruned);
  for (const name of PACKAGES) execFileSync("cp", ["-al", join(ROOT, "node_modules", name), join(pruned, name)]);
  // They are pruned already where this runs; npm brings them with all.
  for (const name of ["better-sqlite3/src", "koffi/vendor"]) {
    mkdirSync(join(pruned, name), { recursive: true });
    writeFileSync(join(pruned, name, "made-up"), Buffer.alloc(MADE_UP_MIB * 2 ** 19));
  }
  said = execFileSync(process.execPath, [PRUNE, pruned], { encoding: "utf8" });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function runHere(script: string): string {
  return execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: folder,
    encoding: "utf8",
  }).trim();
}

it("takes out sources that were compiled", () => {
  for (const name of ["better-sqlite3/src", "better-sqlite3/deps", "better-sqlite3/binding.gyp", "koffi/vendor"])
    expect([name, existsSync(join(pruned, name))]).toEqual([name, false]);
  expect(Number(/pruned (\d+) MiB/.exec(said)?.[1])).toBeGreaterThanOrEqual(MADE_UP_MIB);
});

it("better-sqlite3 still opens a database", () => {
  const script =
    'import Database from "better-sqlite3"; console.log(new Database(":memory:").prepare("select 6 * 7").pluck().get());';
  expect(runHere(script)).toBe("42");
});

it("koffi still calls the C library", () => {
  const script = 'import koffi from "koffi"; console.log(koffi.load("libc.so.6").func("int abs(int)")(-42));';
  expect(runHere(script)).toBe("42");
});

it("says so when its list is out of date, or nothing was named", () => {
  rmSync(join(pruned, "koffi"), { recursive: true });
  const attempt =
    (...words: string[]) =>
    () =>
      execFileSync(process.execPath, [PRUNE, ...words], { stdio: "pipe" });
  expect(attempt(pruned)).toThrow(/koffi is not there: the list in scripts\/prune\.mjs is out of date/);
  expect(attempt()).toThrow(/say which node_modules/);
});
