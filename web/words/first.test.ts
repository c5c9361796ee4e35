import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { setting } from "./en/setting.ts";
import { using } from "./en/using.ts";
import { watching } from "./en/watching.ts";
import { en } from "./en.ts";

const MAIN = fileURLToPath(new URL("../main.tsx", import.meta.url));
const IMPORT = /^(?:import|export) (?!type )(?:[^;"]*? from )?"(\.[^"]+\.tsx?)"/gm;

/** @returns the modules that are loaded with the page, and not with a screen of their own */
function firstModules(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const todo = [MAIN];
  for (const file of todo) {
    if (found.has(file)) continue;
    const text = readFileSync(file, "utf8");
    found.set(file, text);
    for (const [, path = ""] of text.matchAll(IMPORT)) todo.push(join(dirname(file), path));
  }
  return found;
}

it("has every word of the first load in the first load", () => {
  const first = new Set<string>([watching, setting, using].flatMap((words) => Object.keys(words)));
  const later = Object.keys(en).filter((key) => !first.has(key));
  const modules = firstModules();
  expect(modules.size).toBeGreaterThan(50);
  for (const [file, text] of modules)
    expect(
      later.filter((key) => text.includes(`"${key}"`)),
      file,
    ).toEqual([]);
});
