/** The plan of a document (docs/api-contract.md#documents). */
import { z } from "zod";
import { ACTS, THING_KINDS } from "../../model/document/plan.ts";
import { warnings } from "./words.ts";

const fieldChange = z
  .strictObject({
    field: z.string(),
    from: z.unknown().optional().describe("As it is; absent where it is not shown, or was nothing"),
    to: z.unknown().optional().describe("As the document has it; absent where it is not shown"),
    secret: z.literal(true).optional().describe("Its values are not shown"),
    drift: z.literal(true).optional().describe("It was changed elsewhere since the document was applied"),
  })
  .meta({ id: "FieldChange" });

const change = z
  .strictObject({
    act: z.enum(ACTS),
    kind: z.enum(THING_KINDS),
    key: z.string().describe("In the document; an id of what is in none"),
    id: z.string().nullable().describe("null: it is not there yet"),
    name: z.string(),
    fields: z.array(fieldChange),
    note: z.string().optional().describe("What is lost, or why it changes where the document does not say so"),
  })
  .meta({ id: "DocumentChange" });

const refusedThing = z
  .strictObject({
    kind: z.enum(THING_KINDS),
    key: z.string(),
    path: z.string().describe("In the document, such as monitors.shop.type"),
    line: z.int().nullable(),
    message: z.string(),
  })
  .meta({ id: "RefusedThing" });

export const documentPlan = z
  .strictObject({
    name: z.string().describe("Of the document"),
    hash: z.string().describe("To send as expect"),
    applied: z.boolean(),
    changes: z.array(change),
    unchanged: z.int().min(0),
    refused: z.array(refusedThing),
    warnings,
  })
  .meta({ id: "DocumentPlan" });

export const exportedDocument = z
  .strictObject({
    name: z.string().nullable().describe("Of the document; null: all of the project"),
    document: z.string().describe("The document, YAML"),
    secrets: z
      .array(
        z.strictObject({
          name: z.string().describe("Of the variable that stands for it"),
          path: z.array(z.string()).describe("Where it stands"),
        }),
      )
      .describe("What is to be in the environment of sonde apply"),
    warnings,
  })
  .meta({ id: "ExportedDocument" });
