/** The JSON Schema of documents, made from what this version reads. */
import { WORDS } from "../../api/apply/words.ts";
import { documentJsonSchema } from "../../model/document/json-schema.ts";

export function documentSchema(): Readonly<Record<string, unknown>> {
  return documentJsonSchema(WORDS);
}
