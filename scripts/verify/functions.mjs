// No function is longer than a reader can see at once.
import { isTest, parse, sources, text, walk } from "./sources.mjs";

const MOST_LINES = 60;

export function longFunctions() {
  const paths = sources().filter((path) => /\.tsx?$/.test(path) && !isTest(path));
  return findingsOf(functionsOf(new Map(paths.map((path) => [path, text(path)]))));
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

/** @param long as functionsOf() returns them. @returns a line for each */
export function findingsOf(long) {
  return [...long].map(([key, lines]) => `${key} has ${lines} lines, more than ${MOST_LINES}`);
}
