// Whoever exports a decoder of foreign bytes or text has a property test (fast-check) beside it.
import { dirname, posix } from "node:path";
import { isTest, parse, sources, text } from "./sources.mjs";

const DECODER = /^(decode|parse)[A-Z]/;

export function unfuzzedDecoders() {
  const all = sources().filter((path) => path.endsWith(".ts"));
  const tests = all.filter((path) => path.endsWith(".test.ts") && usesProperties(path));
  const proven = new Set(tests.flatMap((path) => [...reach(path)]));
  return all
    .filter((path) => !isTest(path) && !proven.has(path))
    .flatMap((path) =>
      exportedDecoders(path).map((name) => `${path} exports ${name}: no property test beside it reaches it`),
    );
}

function usesProperties(path) {
  return /\bfc\.(property|asyncProperty)\b|\.prop\(/.test(text(path));
}

/** A test proves what it imports from its own folder, and what that imports from there. */
function reach(test) {
  const reached = new Set();
  const queue = [test];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    for (const next of imports(path)) {
      if (dirname(next) !== dirname(test) || reached.has(next)) continue;
      reached.add(next);
      queue.push(next);
    }
  }
  return reached;
}

function imports(path) {
  return parse(text(path))
    .module.body.filter((node) => node.source?.value.startsWith("."))
    .map((node) => posix.join(dirname(path), node.source.value));
}

function exportedDecoders(path) {
  return parse(text(path))
    .module.body.filter((node) => node.type === "ExportDeclaration")
    .flatMap(({ declaration }) =>
      declaration.type === "VariableDeclaration"
        ? declaration.declarations.map((one) => one.id.value)
        : [declaration.identifier?.value],
    )
    .filter((name) => name !== undefined && DECODER.test(name));
}
