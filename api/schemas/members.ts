/** Members of a workspace (docs/api-contract.md#members). */
import { z } from "zod";
import { iso, total, warnings } from "./words.ts";

export const ROLES = ["owner", "admin", "manager", "viewer"] as const;

const memberFields = {
  id: z.int().describe("Of the user"),
  name: z.string().nullable(),
  email: z.string(),
  role: z.enum(ROLES),
  created_at: iso.describe("When the membership began"),
};

export const member = z.strictObject({ ...memberFields, warnings }).meta({ id: "Member" });

export const invitedMember = z
  .strictObject({
    ...memberFields,
    link: z
      .string()
      .nullable()
      .describe(
        "Signs the person in once, within ten minutes; null: the person belongs to another workspace too, and signs in as ever",
      ),
    expires_at: iso.nullable().describe("Of the link"),
    warnings,
  })
  .meta({ id: "InvitedMember" });

export const memberList = z.strictObject({ members: z.array(member), total }).meta({ id: "MemberList" });

export const removedMember = z.strictObject({ success: z.literal(true), id: z.int() }).meta({ id: "RemovedMember" });
