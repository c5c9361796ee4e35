// The API's document as the page's types are made of it, and those types where the generator is installed (web/generate).
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const GENERATOR = join(ROOT, "web/generate");
/** Its first line says of which document it was made. */
export const SCHEMA_FILE = "web/api/schema.d.ts";
/** The document is 160 kB. */
const MOST_BYTES = 1 << 24;

/** @returns the trimmed document as JSON text, and its hash */
export async function pageDocument() {
  const words = ["--import", "./scripts/typescript.mjs", "web/generate/document.mjs"];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: ROOT, maxBuffer: MOST_BYTES });
  return JSON.parse(stdout);
}

export const hasGenerator = () => existsSync(join(GENERATOR, "node_modules/openapi-typescript"));

/** @returns the text of SCHEMA_FILE */
export async function typesOf({ hash, text }) {
  const load = createRequire(pathToFileURL(join(GENERATOR, "main.mjs")));
  // Its ES module, not the CommonJS one that `require` finds.
  const folder = join(load.resolve("openapi-typescript/package.json"), "..");
  const { default: openapiTS, astToString } = await import(pathToFileURL(join(folder, "dist/index.mjs")).href);
  const ast = await openapiTS(text, { defaultNonNullable: false });
  return `// Made by \`npm run web:types\` of the API's document ${hash}. Do not edit.\n${withoutAbsent(astToString(ast))}`;
}

/** What is not there needs no line: of each path six methods, of each operation the kinds of parameters, headers and the body that it does not have. */
export function withoutAbsent(types) {
  const lean = types
    .replace(/^ +\w+\?: never;\n/gm, "")
    .replace(/^ +headers: \{\n +\[name: string\]: unknown;\n +\};\n/gm, "")
    .replace(/^( +"\/[^"]*": \{\n) +parameters: \{\n +\};\n/gm, "$1");
  // An object without members would take any.
  return lean.replace(/^( +parameters: \{)\n +\};\n/gm, "$1 query?: never };\n");
}
