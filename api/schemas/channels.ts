/** Channels, their kinds, and the outcome of a test (docs/api-contract.md#channels). */
import { z } from "zod";
import { CHANNEL_STATES } from "../../model/channel.ts";
import { id, iso, total, warnings } from "./words.ts";

const record = {
  id: id("ch_"),
  kind: z.string(),
  name: z.string(),
  settings: z.record(z.string(), z.unknown()).describe("As GET /channels/kinds describes them, without what is secret"),
  has_secret: z
    .array(z.string())
    .describe("Secret settings that have a value; of an object each of its names, `secrets.token`"),
  active: z.boolean(),
  state: z
    .enum(CHANNEL_STATES)
    .describe(
      "`failing`: its service refused twice in a row or more often, for good; `unverified`: mail addresses that have not confirmed",
    ),
  off_reason: z.enum(["operator"]).nullable(),
  failing_since: iso.nullable().describe("The first failure since its last success"),
  last_success_at: iso.nullable(),
  last_error: z.string().nullable().describe("Why its last attempt failed, in the service's words"),
  used_by_rules: z.int().min(0).describe("Alert rules that tell it; without rules the default one tells every channel"),
  created_at: iso,
  updated_at: iso,
  warnings,
};

export const channel = z.strictObject(record).meta({ id: "Channel" });
export const channelList = z.strictObject({ channels: z.array(channel), total, warnings }).meta({ id: "ChannelList" });
export const channelRemoved = z
  .strictObject({
    success: z.literal(true),
    id: id("ch_"),
    warnings: warnings.describe("Only where a rule has no channel left: which one tells nothing now").meta({
      examples: [['the rule "Nights" has no channel left: nothing that it matches is sent']],
    }),
  })
  .meta({ id: "ChannelRemoved" });

export const channelKinds = z
  .strictObject({
    kinds: z.array(
      z.strictObject({
        kind: z.string(),
        name: z.string(),
        summary: z.string(),
        fields: z
          .record(z.string(), z.unknown())
          .describe("JSON Schema (2020-12) of `settings`; `x-secret` marks what goes in and never comes out"),
        docs: z.string().describe("Where its settings are described"),
      }),
    ),
    total,
  })
  .meta({ id: "ChannelKinds" });

export const channelTest = z
  .strictObject({
    delivered: z.boolean(),
    status_code: z.int().nullable().describe("Of the service, HTTP or SMTP; null: it did not answer"),
    error: z.string().nullable().describe("Why not, in the service's words"),
    duration_ms: z.int().min(0),
    sent: z.string().describe("What was sent, without secrets; empty when nothing was"),
    warnings,
  })
  .meta({ id: "ChannelTest" });
