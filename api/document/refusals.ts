/** What each route refuses with, in words: from its scope, ids, query and body, and what the route adds itself. */
import { type ErrorName, wordsOf } from "../errors.ts";
import { MAX_BODY_BYTES } from "../http.ts";
import { isRefusable } from "../read-gate.ts";
import { type Refusal, type Route, takesIdempotencyKey } from "../route.ts";

/** The refusal of an id in a path, by the prefix that its parameter takes. */
const ID_REFUSALS: Readonly<Record<string, readonly ErrorName[]>> = {
  srv: ["invalidServerId", "serverNotFound"],
  inc: ["invalidIncidentId", "incidentNotFound"],
  sub: ["invalidSubscriptionId", "subscriptionNotFound"],
};

const KEY_REFUSALS: readonly Refusal[] = [
  "keyMissing",
  "keyInvalid",
  "keyExpired",
  "ownerInactive",
  "workspaceAccessRemoved",
  "sessionEnded",
  "notFromPage",
  "noApiAccess",
  "tooManyWrongKeys",
  "storeAway",
  "redisAway",
];
const PROJECT_REFUSALS: readonly Refusal[] = [
  "projectHeaderMissing",
  "projectHeaderInvalid",
  "projectNotFound",
  "otherOrganization",
  "noProjectAccess",
];
const BODY_REFUSALS: readonly Refusal[] = [
  "invalidJson",
  [413, `The request body must be at most ${MAX_BODY_BYTES} bytes.`],
];

const IDEMPOTENCY_REFUSALS: readonly Refusal[] = [
  "idempotencyKeyInvalid",
  "idempotencyKeyRunning",
  "idempotencyKeyOther",
  "idempotencyKeysUsedUp",
];

/** Messages by status, in the order of the checks. */
export function refusalsOf(route: Route): ReadonlyMap<number, readonly string[]> {
  const all: Refusal[] = ["internal"];
  if (route.scope !== "public") all.push(...KEY_REFUSALS);
  if (route.scope === "project") {
    all.push(...PROJECT_REFUSALS);
    if (route.editorsOnly !== undefined) all.push([403, route.editorsOnly]);
  }
  if (isRefusable(route)) all.push("readsRefused");
  if (takesIdempotencyKey(route)) all.push(...IDEMPOTENCY_REFUSALS);
  all.push(...idRefusals(route));
  for (const { refusal } of Object.values(route.query ?? {})) if (refusal !== undefined) all.push([400, refusal]);
  if (route.body !== undefined) all.push(...BODY_REFUSALS);
  all.push(...(route.refusals ?? []));

  const byStatus = new Map<number, string[]>();
  for (const refusal of all) {
    const [status, message] = typeof refusal === "string" ? wordsOf(refusal) : refusal;
    const messages = byStatus.get(status) ?? [];
    if (!messages.includes(message)) messages.push(message);
    byStatus.set(status, messages);
  }
  return byStatus;
}

function idRefusals(route: Route): readonly Refusal[] {
  const patterns = Object.values(route.params ?? {}).map((schema) => patternOf(schema));
  return Object.entries(ID_REFUSALS).flatMap(([prefix, names]) =>
    patterns.some((pattern) => pattern?.includes(`(${prefix}_)`)) ? names : [],
  );
}

function patternOf(schema: unknown): string | undefined {
  const { pattern } = (schema as { toJSONSchema?: () => { pattern?: string } }).toJSONSchema?.() ?? {};
  return pattern;
}
