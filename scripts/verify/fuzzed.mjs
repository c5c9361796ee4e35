// A file that exports a decoder of foreign bytes or text has a property test (fast-check) beside it.
import { dirname, posix } from "node:path";
import { isTest, parse, sources, text } from "./sources.mjs";

const DECODER = /^(decode|parse)[A-Z]/;
/** Where everything that is read is foreign. */
const PROTOCOLS = "engine/protocols/";
const READER = /^(decode|parse|read)[A-Z]|(Reader|Parser|Opener)$/;
const PROPERTY = /\bfc\.(property|asyncProperty)\b|\bproperty\(/;

export function unfuzzedDecoders() {
  const paths = sources().filter((path) => path.endsWith(".ts"));
  return decodersWithoutProperties(new Map(paths.map((path) => [path, text(path)])));
}

/** @param texts sources by path */
export function decodersWithoutProperties(texts) {
  const modules = new Map([...texts].map(([path, source]) => [path, parse(source).module]));
  // A property may stand in a suite that several tests share.
  const hasProperty = (path) => PROPERTY.test(texts.get(path) ?? "");
  const suitesOf = (path) => imports(path, modules.get(path)).filter((next) => next.endsWith(".suite.ts"));
  const tests = [...texts.keys()].filter(
    (path) => path.endsWith(".test.ts") && (hasProperty(path) || suitesOf(path).some(hasProperty)),
  );
  const proven = new Set(tests.flatMap((path) => [...reach(path, modules)]));
  return [...modules]
    .filter(([path]) => !isTest(path) && !proven.has(path))
    .flatMap(([path, module]) =>
      exportedDecoders(module, path.startsWith(PROTOCOLS) ? READER : DECODER).map(
        (name) => `${path} exports ${name}: no property test beside it reaches it`,
      ),
    );
}

/** Where every reader is given repeated characters at two lengths. */
const TIMED = "engine/linear-time.test.ts";

/** Readers of text or bytes that the test of their cost does not know. */
export function untimedReaders() {
  const timed = text(TIMED) ?? "";
  const paths = sources().filter(
    (path) => path.endsWith(".ts") && !isTest(path) && /^(api|cli|engine|model|native|store)\//.test(path),
  );
  return paths.flatMap((path) =>
    readersOf(parse(text(path)).module, path.startsWith(PROTOCOLS) ? READER : DECODER)
      .filter((name) => !new RegExp(`\\b${name}\\b`).test(timed))
      .map((name) => `${path} exports ${name}: ${TIMED} does not measure it`),
  );
}

function readersOf(module, pattern) {
  return module.body
    .filter(({ type, declaration }) => type === "ExportDeclaration" && declaration.type === "FunctionDeclaration")
    .map(({ declaration }) => declaration)
    .filter(({ identifier, params }) => pattern.test(identifier.value) && takesText(params[0]))
    .map(({ identifier }) => identifier.value);
}

/** Parsers of a protocol's fields are measured as the list of them that the registry has. */
function takesText(parameter) {
  const type = parameter?.pat.typeAnnotation?.typeAnnotation;
  return type?.kind === "string" || ["Uint8Array", "Buffer"].includes(type?.typeName?.value);
}

/** A test proves what it imports from its own folder, and what that imports from there. */
function reach(test, modules) {
  const reached = new Set();
  const queue = [test];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    for (const next of imports(path, modules.get(path))) {
      if (dirname(next) !== dirname(test) || reached.has(next)) continue;
      reached.add(next);
      queue.push(next);
    }
  }
  return reached;
}

function imports(path, module) {
  return (module?.body ?? [])
    .filter((node) => node.source?.value.startsWith("."))
    .map((node) => posix.join(dirname(path), node.source.value));
}

function exportedDecoders(module, pattern) {
  return module.body
    .filter(({ type, declaration }) => type === "ExportDeclaration" && !declaration.type.startsWith("Ts"))
    .flatMap(({ declaration }) =>
      declaration.type === "VariableDeclaration"
        ? declaration.declarations.map((one) => one.id.value)
        : [declaration.identifier?.value],
    )
    .filter((name) => name !== undefined && pattern.test(name));
}
