/** Whether a document is OpenAPI 3.1, asked of a validator that is not ours. */
import { Validator } from "@seriousme/openapi-schema-validator";

/** @returns its complaints */
export async function validate(document: Record<string, unknown> | string): Promise<unknown[]> {
  const result = await new Validator().validate(document);
  return result.valid ? [] : [result.errors ?? "invalid"];
}
