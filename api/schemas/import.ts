/** What an import of another program's files gives (docs/use/import.md). */
import { z } from "zod";
import { warnings } from "./words.ts";

export const convertedImport = z
  .strictObject({
    document: z.string().describe("YAML for `sonde apply`, with the secrets of the source"),
    report: z.strictObject({
      source: z.string(),
      counts: z
        .record(z.string(), z.int())
        .describe("Things of each section; `incomplete`: monitors that come over paused"),
      notes: z.array(
        z.strictObject({
          level: z.enum(["lost", "changed", "info"]),
          path: z.string().describe("What it is about, in the words of the source"),
          message: z.string(),
        }),
      ),
      more_notes: z.int().describe("Notes that are not listed"),
    }),
    warnings,
  })
  .meta({ id: "ConvertedImport" });
