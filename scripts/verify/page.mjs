// The page is checked against types that are committed: they must be of the API as it is.
import { posix } from "node:path";
import { hasGenerator, pageDocument, SCHEMA_FILE, typesOf } from "../page-document.mjs";
import { parse, sources, text } from "./sources.mjs";

/** Where the generator is installed, the whole file is compared; elsewhere the hash in its first line. */
export async function staleTypes() {
  const document = await pageDocument();
  const committed = text(SCHEMA_FILE) ?? "";
  const isOfDocument = committed.split("\n", 1)[0].includes(` ${document.hash}.`);
  if (isOfDocument && (!hasGenerator() || committed === (await typesOf(document)))) return [];
  return [`${SCHEMA_FILE} is not of the API's document (${document.hash}): npm run web:types, and commit it`];
}

/** What is bundled into the page. */
const PACKAGES =
  /^(preact|preact\/hooks|@preact\/signals|openapi-fetch|uplot|@simplewebauthn\/browser)$|^uplot\/dist\/uPlot\.min\.css$/;

/** The page runs in a browser: of ours it imports itself and model/, of others what is bundled. */
export function strayImports() {
  return sources()
    .filter((path) => /^web\/(?!generate\/).*\.tsx?$/.test(path) && !path.endsWith(".test.ts"))
    .flatMap((path) => strayImportsOf(path, text(path)));
}

/** Files of the page that import each other in a circle; the rules of `.dependency-cruiser.cjs` see no .tsx. @returns a line for each */
export function circles() {
  const paths = sources().filter((path) => /^web\/(?!generate\/).*\.tsx?$/.test(path));
  return circlesIn(new Map(paths.map((path) => [path, text(path)])));
}

/** @param texts sources by path */
export function circlesIn(texts) {
  const imports = new Map([...texts].map(([path, source]) => [path, importsOf(path, source).map(({ to }) => to)]));
  const done = new Set();
  const found = [];
  const visit = (path, way) => {
    const from = way.indexOf(path);
    if (from >= 0)
      found.push(`${[...way.slice(from), path].join(" imports ")}: move what both need to a file of its own`);
    if (from >= 0 || done.has(path)) return;
    for (const next of imports.get(path) ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return found;
}

/** Imports of a file, and exports from others. */
function importsOf(path, source) {
  const { module, line } = parse(source, path.endsWith(".tsx"));
  return module.body
    .filter(({ type, source: from }) => type === "ImportDeclaration" || (type.startsWith("Export") && from != null))
    .map((node) => ({
      line: line(node),
      name: node.source.value,
      to: posix.join(posix.dirname(path), node.source.value),
    }));
}

/** @returns a line for each import that the page may not have */
export function strayImportsOf(path, source) {
  return importsOf(path, source)
    .filter(({ name, to }) => (name.startsWith(".") ? !/^(web|model)\//.test(to) : !PACKAGES.test(name)))
    .map(({ line, name }) => `${path}:${line} imports ${name}: the page imports itself, model/ and what is bundled`);
}
