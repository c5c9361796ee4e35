/** API keys (docs/api-contract.md#keys). */
import { z } from "zod";
import { total, utc, warnings } from "./words.ts";

const keyId = z
  .int()
  .min(1)
  .meta({ examples: [31] });
const keyFields = {
  id: keyId,
  name: z.string(),
  userID: z.int().min(1).describe("The key's owner"),
  organizationId: z.int().min(1).nullable().describe("The workspace; null for an account-wide key"),
  createdDate: utc,
  expires: utc.nullable().describe("null: never"),
  lastUsedAt: utc.nullable().describe("May lag by a minute"),
  status: z.enum(["active", "inactive", "expired"]),
};

export const key = z
  .strictObject({ ...keyFields, active: z.int().min(0).max(1).describe("1 is switched on") })
  .meta({ id: "Key" });
export const keyList = z.strictObject({ keys: z.array(key), total }).meta({ id: "KeyList" });

export const createdKey = z
  .strictObject({
    ...keyFields,
    active: z.literal(true),
    key: z
      .string()
      .regex(/^[ud]k[0-9]+_[A-Za-z0-9_-]+$/)
      .describe("The whole secret, shown once")
      .meta({ examples: ["uk31_0123456789abcdefghijklmnopqrstuvwxyzABCD"] }),
    warnings,
  })
  .meta({ id: "CreatedKey" });

export const revokedKey = z
  .strictObject({
    success: z.literal(true),
    id: keyId,
    status: z.enum(["inactive", "expired"]).nullable().describe("null after deletion"),
    deleted: z.boolean(),
  })
  .meta({ id: "RevokedKey" });
