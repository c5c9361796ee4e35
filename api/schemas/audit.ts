/** The audit log (docs/api-contract.md#audit). */
import { z } from "zod";
import { actor, id, iso, total } from "./words.ts";

const auditEntry = z
  .strictObject({
    id: id("aud_"),
    at: iso,
    actor,
    what: z
      .string()
      .describe("`<thing>.<participle>`")
      .meta({ examples: ["monitor.deleted"] }),
    subject: z.strictObject({
      type: z.string().meta({ examples: ["monitor"] }),
      id: z.string().nullable().describe("null: several"),
      name: z.string().nullable(),
    }),
    detail: z.record(z.string(), z.unknown()).describe("Names of fields, counts, words; never a value that was sent"),
    project_id: id("prj_").nullable(),
    address: z.string().nullable().describe("Of the caller"),
  })
  .meta({ id: "AuditEntry" });

export const auditList = z.strictObject({ entries: z.array(auditEntry), total }).meta({ id: "AuditList" });
