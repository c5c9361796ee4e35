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

/** @returns a line for each import that the page may not have */
export function strayImportsOf(path, source) {
  const { module, line } = parse(source, path.endsWith(".tsx"));
  return module.body
    .filter(({ type, source: from }) => type === "ImportDeclaration" || (type.startsWith("Export") && from != null))
    .filter(({ source: { value } }) => {
      if (!value.startsWith(".")) return !PACKAGES.test(value);
      return !/^(web|model)\//.test(posix.join(posix.dirname(path), value));
    })
    .map(
      (node) =>
        `${path}:${line(node)} imports ${node.source.value}: the page imports itself, model/ and what is bundled`,
    );
}
