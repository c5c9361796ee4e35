// The sources that git knows or would know, and their syntax trees.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import swc from "@swc/core";
import { ROOT } from "../prepare.mjs";

export { ROOT };

const EXTENSIONS = [".ts", ".tsx", ".css", ".mjs", ".cjs", ".lua", ".sh"];

/** Every file that is committed or could be: ignored ones are not ours. */
export function files() {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  // A file that was deleted but not yet committed is still listed.
  return [...new Set(listed.split("\0"))].filter((path) => path !== "" && text(path) !== undefined).sort();
}

export function sources() {
  return files().filter((path) => EXTENSIONS.some((extension) => path.endsWith(extension)));
}

export function isTest(path) {
  return /\.(test|suite)\.ts$/.test(path) || /^test(kit)?\//.test(path);
}

const texts = new Map();

/** @returns undefined for what is no readable file */
export function text(path) {
  if (!texts.has(path)) {
    try {
      texts.set(path, readFileSync(join(ROOT, path), "utf8"));
    } catch {
      texts.set(path, undefined);
    }
  }
  return texts.get(path);
}

/**
 * @param source TypeScript
 * @param tsx it has JSX; type assertions by angle brackets it then has not
 * @returns the module's tree, and the line of a node. Identifiers that the module does not declare itself carry `ctxt` 1: globals.
 */
export function parse(source, tsx = false) {
  const module = swc.parseSync(`;${source.replace(/^#!/, "//")}`, { syntax: "typescript", tsx, target: "es2022" });
  // swc counts bytes over all files it has parsed: the leading `;` says where this one begins.
  const start = module.body[0].span.start + 1;
  const bytes = Buffer.from(source);
  const line = (node) => {
    const end = Math.max(0, node.span.start - start);
    let lines = 1;
    for (let i = 0; i < end; i++) if (bytes[i] === 10) lines++;
    return lines;
  };
  return { module, line };
}

/** Calls back for every node of a syntax tree. */
export function walk(node, visit) {
  if (Array.isArray(node)) {
    for (const item of node) walk(item, visit);
    return;
  }
  if (typeof node !== "object" || node === null) return;
  if (typeof node.type === "string") visit(node);
  for (const key in node) if (key !== "span") walk(node[key], visit);
}
