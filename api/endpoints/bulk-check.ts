/** Many configurations checked once, answered as they end. */
import { z } from "zod";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { type BulkList, BulkRun, isStructured, MOST_CONFIGS, readBulk, readListed } from "../checks/bulk.ts";
import { engineField, readEngine } from "../checks/order.ts";
import { ApiError, refusal } from "../errors.ts";
import type { StreamedResponse } from "../http.ts";
import { locate, readRegion, regionFields, requireRegionOnPlan } from "../on-demand/region.ts";
import type { ProjectCall, Route } from "../route.ts";
import { readDraft, refuseTarget } from "../subscriptions/draft.ts";

/** Checks of one request at one time. */
const MOST_AT_ONCE = 64;
const AT_ONCE = 8;
const NDJSON = "application/x-ndjson";
/** Three names of clients are tried at an address that answers, ms. */
const FETCH_MS = 45_000;
/** Lists that one workspace fetches in an hour: each is up to 5 MiB from a server that the caller chooses. */
const MOST_FETCHES = 60;
const HOUR_MS = 3_600_000;

const body = z
  .object({
    text: z
      .string()
      .optional()
      .describe(
        `Share links, one a line, such a list in base64, or a client's YAML or JSON; at most ${MOST_CONFIGS} configurations and 2 MiB`,
      ),
    url: z.string().optional().describe("Instead of text: a subscription's address, fetched once and not kept"),
    at_once: z.int().min(1).max(MOST_AT_ONCE).optional().describe(`Checks at one time. Default: ${AT_ONCE}`),
    timeout: z.number().optional().describe("Seconds of one check; clamped to what is allowed"),
    ...engineField,
    ...regionFields,
  })
  .meta({ id: "CheckMany", examples: [{ text: "trojan://secret@vpn.test-site.org:443#Berlin", at_once: 8 }] });

async function check(api: Api, call: ProjectCall): Promise<StreamedResponse> {
  const sent = readObject(call.request);
  const atOnce = atOnceOf(sent);
  const wanted = readRegion(sent);
  const list = await listOf(api, call, sent);
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

/** @returns undefined when it has too many. @throws 400, 413, 422, 429, TextRefused */
async function listOf(api: Api, call: ProjectCall, sent: JsonObject): Promise<BulkList | undefined> {
  const [text, timeoutS, engine] = [fieldOf(sent, "text") ?? null, fieldOf(sent, "timeout"), readEngine(sent)];
  const { url } = readDraft({ url: fieldOf(sent, "url") ?? undefined });
  const read = (list: string) => api.texts.linksOf(call.workspace.id, list, MOST_CONFIGS);
  if (url === undefined) {
    if (typeof text !== "string" || text.trim() === "") throw refusal("bulkTextInvalid");
    return isStructured(text) ? readListed(await read(text), timeoutS, engine) : readBulk(text, timeoutS, engine);
  }
  if (text !== null) throw refusal("bulkTextOrUrl");
  refuseTarget(await api.targets.refusal(url.target));
  const { counters } = api.state;
  if (!(await counters.takeFrom(`bulk lists ${call.workspace.id}`, MOST_FETCHES, HOUR_MS, api.clock.now())))
    throw new ApiError(429, `This workspace has fetched ${MOST_FETCHES} lists in this hour.`);
  const signal = AbortSignal.any([api.closing, AbortSignal.timeout(FETCH_MS)]);
  return readListed(await api.linkLists.fetch(url.text, read, signal), timeoutS, engine);
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
    summary: "Check many configurations once, and answer each as its check ends",
    description:
      "An addition of ours. Lines of JSON: first `{total, invalid_count, invalid: [{line, reason}]}`; then `{line, tag, type, server, port, success, total_ms, error, error_category, public_ip, country, engine_used}` for each; last `{done, healthy, down, ms}`. Closing the connection cancels what has not begun. Nothing is stored.",
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
      ...(["bulkTextOrUrl", "urlInvalid"] as const),
      [400, "url must reach a public address: it is a private address."],
      [413, "url must be at most 8192 bytes (received 8193)."],
      [422, "There is no list: The provider answered with HTTP 404."],
      ...(["textTooMuch", "textsBusy", "regionOnPlan", "noCheckerInRegion", "tooManyStreams"] as const),
    ],
    handle: check,
  },
];
