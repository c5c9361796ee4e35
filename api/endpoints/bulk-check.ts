/** Many configurations checked once, answered as they end. */
import { z } from "zod";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { BulkRun, MOST_CONFIGS, readBulk } from "../checks/bulk.ts";
import { engineField, readEngine } from "../checks/order.ts";
import { refusal } from "../errors.ts";
import type { StreamedResponse } from "../http.ts";
import { locate, readRegion, regionFields, requireRegionOnPlan } from "../on-demand/region.ts";
import type { ProjectCall, Route } from "../route.ts";

/** Checks of one request at one time. */
const MOST_AT_ONCE = 64;
const AT_ONCE = 8;
const NDJSON = "application/x-ndjson";

const body = z
  .object({
    text: z.string().describe(`Share links, one a line, or such a list in base64; at most ${MOST_CONFIGS} and 1 MiB`),
    at_once: z.int().min(1).max(MOST_AT_ONCE).optional().describe(`Checks at one time. Default: ${AT_ONCE}`),
    timeout: z.number().optional().describe("Seconds of one check; clamped to what is allowed"),
    ...engineField,
    ...regionFields,
  })
  .meta({ id: "CheckMany", examples: [{ text: "trojan://secret@vpn.test-site.org:443#Berlin", at_once: 8 }] });

async function check(api: Api, call: ProjectCall): Promise<StreamedResponse> {
  const sent = readObject(call.request);
  const text = fieldOf(sent, "text");
  if (typeof text !== "string" || text.trim() === "") throw refusal("bulkTextInvalid");
  const atOnce = atOnceOf(sent);
  const wanted = readRegion(sent);
  const list = await readBulk(text, fieldOf(sent, "timeout"), readEngine(sent));
  if (list === undefined) throw refusal("bulkTextTooMany");
  requireRegionOnPlan(wanted, call.plan);
  const location = await locate(api, wanted);
  const run = new BulkRun(api, list, { location, organizationId: call.workspace.id, atOnce });
  return {
    status: 200,
    headers: ["Content-Type", NDJSON, "X-Accel-Buffering", "no"],
    open(sink) {
      void run.run(sink);
      return () => run.stop();
    },
  };
}

/** @throws 400 */
function atOnceOf(sent: JsonObject): number {
  const value = fieldOf(sent, "at_once") ?? AT_ONCE;
  const isFit = Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_AT_ONCE;
  if (!isFit) throw refusal("bulkAtOnceInvalid");
  return Number(value);
}

export const bulkChecks: readonly Route[] = [
  {
    method: "POST",
    path: "/check/bulk",
    operationId: "checkMany",
    audit: null,
    group: "Checks",
    summary: "Check many share links once, and answer each as its check ends",
    description:
      "An addition of ours. Lines of JSON: first `{total, invalid_count, invalid: [{line, reason}]}`; then `{line, tag, type, server, port, success, total_ms, error, error_category, engine_used}` for each; last `{done, healthy, down, ms}`. Closing the connection cancels what has not begun. Nothing is stored.",
    scope: "project",
    editorsOnly: "You do not have permission to run tests in this project",
    body: { schema: body, required: true },
    responses: { 200: NDJSON },
    headers: {
      "X-Accel-Buffering": {
        description: "Proxies that know it pass each line on at once",
        schema: z.literal("no"),
        required: true,
        on: [200],
      },
    },
    refusals: [
      ...(["bulkTextInvalid", "bulkAtOnceInvalid", "regionInvalid", "engineInvalid", "bulkTextTooMany"] as const),
      ...(["regionOnPlan", "noCheckerInRegion", "tooManyStreams"] as const),
    ],
    handle: check,
  },
];
