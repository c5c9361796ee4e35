// The page is checked against types that are committed: they must be of the API as it is.
import { hasGenerator, pageDocument, SCHEMA_FILE, typesOf } from "../page-document.mjs";
import { text } from "./sources.mjs";

/** Where the generator is installed, the whole file is compared; elsewhere the hash in its first line. */
export async function staleTypes() {
  const document = await pageDocument();
  const committed = text(SCHEMA_FILE) ?? "";
  const isOfDocument = committed.split("\n", 1)[0].includes(` ${document.hash}.`);
  if (isOfDocument && (!hasGenerator() || committed === (await typesOf(document)))) return [];
  return [`${SCHEMA_FILE} is not of the API's document (${document.hash}): npm run web:types, and commit it`];
}
