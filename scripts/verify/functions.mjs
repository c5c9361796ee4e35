// Functions that a reader can see whole. Those that were longer before the rule stand in a list that may only shrink.

import { LONG_FUNCTIONS } from "./debts.mjs";
import { isTest, parse, sources, text, walk } from "./sources.mjs";

const MOST_LINES = 60;

export function longFunctions() {
  const paths = sources().filter((path) => /\.tsx?$/.test(path) && !isTest(path));
  return findingsOf(functionsOf(new Map(paths.map((path) => [path, text(path)]))), LONG_FUNCTIONS);
}

/**
 * @param texts sources by path
 * @returns functions that are too long, `path name` to lines; a function inside another is counted by itself and in the outer one
 */
export function functionsOf(texts) {
  const long = new Map();
  for (const [path, source] of texts) {
    // A file of fewer lines has no such function.
    if (source.split("\n").length <= MOST_LINES) continue;
    const { module, line } = parse(source, path.endsWith(".tsx"));
    const add = (name, node) => {
      const lines = line({ span: { start: node.span.end } }) - line(node) + 1;
      const key = `${path} ${name}`;
      if (lines > MOST_LINES) long.set(key, Math.max(lines, long.get(key) ?? 0));
    };
    walk(module, (node) => {
      if (node.type === "FunctionDeclaration") add(node.identifier.value, node);
      if (node.type === "ClassMethod" || node.type === "PrivateMethod")
        add(node.key.value ?? node.key.id?.value ?? "?", node);
      if (node.type === "Constructor") add("constructor", node);
      const isFunction = ["ArrowFunctionExpression", "FunctionExpression"].includes(node.init?.type);
      if (node.type === "VariableDeclarator" && isFunction) add(node.id.value ?? "?", node);
    });
  }
  return long;
}

/**
 * @param long as functionsOf() returns them
 * @param allowed `path name` to the lines that it may have
 * @returns a line for each function that is longer than it may be, and for each line of the list that could shrink
 */
export function findingsOf(long, allowed) {
  const tooLong = [...long]
    .filter(([key, lines]) => lines > (allowed[key] ?? MOST_LINES))
    .map(([key, lines]) => `${key} has ${lines} lines, more than ${allowed[key] ?? MOST_LINES}`);
  const stale = Object.entries(allowed)
    .filter(([key, most]) => (long.get(key) ?? 0) < most)
    .map(([key]) => `scripts/verify/debts.mjs: ${key} has ${long.get(key) ?? `at most ${MOST_LINES}`} lines now`);
  return [...tooLong, ...stale];
}
