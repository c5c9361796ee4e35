/**
 * A library of its own for each query. JSONata keeps its functions in one place for all queries, and a query can write into them: what its transform
 * operator matches may be a function. Queries of all workspaces run in one process, so a query would change what others' find, and read their texts.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Script } from "node:vm";
import type { Expression } from "jsonata";

type Jsonata = typeof import("jsonata");
type Run = (module: { exports: unknown }, exports: unknown) => void;

let script: Script | null = null;

/** Read and compiled once; what it makes is small, and made anew each time. */
function library(): Jsonata {
  if (script === null) {
    const file = createRequire(import.meta.url).resolve("jsonata");
    script = new Script(`(function (module, exports) {${readFileSync(file, "utf8")}\n})`, { filename: file });
  }
  const made = { exports: {} };
  (script.runInThisContext() as Run)(made, made.exports);
  return made.exports as Jsonata;
}

/** @throws what the library throws for what is no query */
export function compileQuery(text: string): Expression {
  return library()(text);
}
