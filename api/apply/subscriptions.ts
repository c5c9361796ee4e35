/** What a document would do to subscriptions. */
import type { Document, SubscriptionEntry } from "../../model/document/document.ts";
import type { FieldChange } from "../../model/document/plan.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import type { SubscriptionChange, SubscriptionRecord } from "../../store/sql/subscriptions/port.ts";
import type { Api } from "../api.ts";
import { ApiError, badRequest, refusal } from "../errors.ts";
import type { Targets } from "../monitors/targets.ts";
import type { ProjectCall } from "../route.ts";
import {
  newSubscription,
  readDraft,
  refuseByPlan,
  type SubscriptionDraft,
  type SubscriptionUrl,
} from "../subscriptions/draft.ts";
import { hashUrl } from "../subscriptions/hash-url.ts";
import type { DraftPlan } from "./draft-plan.ts";
import { TargetJudge, targetKey } from "./judge-targets.ts";
import type { References } from "./references.ts";

const PAGE = 500;

/** The record's members by the API's names. */
const FIELDS = {
  name: "name",
  syncIntervalSec: "syncIntervalS",
  timeoutSeconds: "timeoutS",
  maxWorkers: "maxWorkers",
  configAlertPercent: "configAlertPercent",
  enabled: "enabled",
} as const satisfies Readonly<Record<string, keyof SubscriptionRecord & keyof SubscriptionDraft>>;

function subscriptionId(id: number): string {
  return `sub_${id}`;
}

interface Wanted {
  readonly key: string;
  readonly entry: SubscriptionEntry;
  readonly draft: Omit<SubscriptionDraft, "url">;
  readonly url: SubscriptionUrl;
  readonly hash: string;
}

export async function planSubscriptions(plan: DraftPlan, document: Document, references: References): Promise<void> {
  const records = await allSubscriptions(plan.api, plan.call);
  const wanted: Wanted[] = [];
  const keyOfHash = new Map<string, string>();
  for (const [key, entry] of Object.entries(document.subscriptions ?? {})) {
    await plan.slices.rest();
    const about = { kind: "subscription", key, path: ["subscriptions", key] } as const;
    const read = plan.attempt(about, entry, () => {
      const { url, ...draft } = readDraft({ ...entry });
      if (url === undefined) throw badRequest("url is missing.");
      const hash = hashUrl(plan.hashKey, url.normal);
      const other = keyOfHash.get(hash);
      if (other !== undefined) throw badRequest(`url is the same as that of ${other}.`);
      return { key, entry, draft, url, hash };
    });
    if (read === undefined) continue;
    keyOfHash.set(read.hash, key);
    wanted.push(read);
  }
  const met = new Map<number, string>();
  await planAll(plan, wanted, records, met);
  leave(plan, new Set(Object.keys(document.subscriptions ?? {})), records, met);
  references.know(
    "subscription",
    plan.subscriptions.create.map(({ key }) => key),
    [...met].map(([id, key]) => [key, id]),
    { all: records.keys(), removed: plan.subscriptions.remove.map(({ id }) => id) },
  );
}

export async function allSubscriptions(api: Api, call: ProjectCall): Promise<ReadonlyMap<number, SubscriptionRecord>> {
  const found = new Map<number, SubscriptionRecord>();
  for (;;) {
    const { rows } = await api.controlPlane.subscriptions.list(call.project.id, PAGE, found.size);
    for (const row of rows) found.set(row.id, row);
    if (rows.length < PAGE) return found;
  }
}

/** @param met is filled with the subscriptions that entries stand for */
async function planAll(
  plan: DraftPlan,
  wanted: readonly Wanted[],
  records: ReadonlyMap<number, SubscriptionRecord>,
  met: Map<number, string>,
): Promise<void> {
  const judge = new TargetJudge(publicOnly(plan.api.targets));
  const placed: Placed[] = [];
  try {
    for (const one of wanted) {
      const place = await orRefuse(plan, one.key, () => placeOf(plan, one, records));
      if (place === undefined) continue;
      placed.push(place);
      if (place.now !== undefined) met.set(place.now.id, one.key);
      if (place.isMoved) judge.add([one.url.target]);
    }
    const refused = await judge.refused();
    for (const one of placed) await orRefuse(plan, one.wanted.key, async () => planOne(plan, one, refused));
  } finally {
    judge.stop();
  }
}

async function orRefuse<Result>(
  plan: DraftPlan,
  key: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    plan.refuse("subscription", key, ["subscriptions", key], error.message);
    return undefined;
  }
}

/** What an entry stands for. */
interface Placed {
  readonly wanted: Wanted;
  /** undefined: it is to be made. */
  readonly now: SubscriptionRecord | undefined;
  /** Nothing has its address yet. */
  readonly isMoved: boolean;
  readonly isOurs: boolean;
}

/** @throws ApiError */
async function placeOf(
  plan: DraftPlan,
  wanted: Wanted,
  records: ReadonlyMap<number, SubscriptionRecord>,
): Promise<Placed> {
  const thing = plan.thing("subscription", wanted.key);
  const owner = plan.ownerOf(thing);
  if (owner !== null) throw new ApiError(409, `It belongs to the document "${owner}".`);
  const holder = await plan.api.controlPlane.subscriptions.holder(plan.call.project.id, wanted.hash);
  const known = thing === undefined ? undefined : records.get(thing.thingId);
  const now = known ?? (holder !== undefined && plan.options.adopt ? records.get(holder) : undefined);
  if (holder !== undefined && holder !== now?.id) {
    const hint = known === undefined ? " adopt takes it over." : "";
    throw new ApiError(409, `${refusal("urlTaken").message} (${subscriptionId(holder)}).${hint}`);
  }
  return { wanted, now, isMoved: holder === undefined, isOurs: thing !== undefined && plan.isOurs(thing) };
}

/** @throws ApiError */
function planOne(
  plan: DraftPlan,
  { wanted, now, isMoved, isOurs }: Placed,
  refused: ReadonlyMap<string, string>,
): void {
  const why = refused.get(targetKey(wanted.url.target));
  if (isMoved && why !== undefined) throw new ApiError(422, why);
  refuseByPlan(plan.call, wanted.draft, now);
  if (now === undefined) create(plan, wanted);
  else change(plan, wanted, now, { isOurs, isMoved });
}

/** Refuses in the words of subscriptions. */
function publicOnly(targets: Targets): Targets {
  return {
    ...targets,
    async accept(target) {
      const reason = await targets.refusal(target);
      if (reason !== undefined) throw new ApiError(422, `url must reach a public address: ${reason}.`);
    },
  };
}

function create(plan: DraftPlan, { key, entry, draft, url, hash }: Wanted): void {
  const { api, call } = plan;
  const name = draft.name === undefined ? key : draft.name;
  const { url: _, ...shown } = entry;
  const fields = Object.entries(shown).map(([field, value]): FieldChange => ({ field, to: value }));
  plan.changes.push({
    act: "create",
    kind: "subscription",
    key,
    id: null,
    name: name ?? key,
    fields: [...fields, { field: "url", secret: true }],
  });
  plan.cover([key, entry]);
  plan.subscriptions.create.push({
    key,
    marks: plan.marks({ ...entry }),
    input: newSubscription(call, draft, {
      name,
      urlSealed: (id: number) => api.sealing.seal(SEALED_CELLS.subscription(id), url.text),
      urlHash: hash,
    }),
  });
}

function change(
  plan: DraftPlan,
  { key, entry, draft, url, hash }: Wanted,
  now: SubscriptionRecord,
  { isOurs, isMoved }: { readonly isOurs: boolean; readonly isMoved: boolean },
): void {
  const fields: FieldChange[] = [];
  const marks = plan.thing("subscription", key)?.marks;
  const values: Record<string, unknown> = { ...entry };
  const drift = (field: string) =>
    marks?.[field] !== undefined && marks[field] === plan.mark(field, values[field]) ? { drift: true as const } : {};
  for (const [field, member] of Object.entries(FIELDS)) {
    const to = draft[member];
    if (to !== undefined && to !== now[member]) fields.push({ field, from: now[member], to, ...drift(field) });
  }
  if (isMoved) fields.push({ field: "url", secret: true, ...drift("url") });
  if (fields.length === 0 && isOurs) {
    plan.unchanged += 1;
    return;
  }
  plan.changes.push({
    act: isOurs ? "change" : "adopt",
    kind: "subscription",
    key,
    id: subscriptionId(now.id),
    name: draft.name ?? now.name ?? key,
    fields,
  });
  plan.cover([key, entry]);
  const sealed = isMoved ? plan.api.sealing.seal(SEALED_CELLS.subscription(now.id), url.text) : "";
  const wanted: SubscriptionChange = { ...draft, ...(isMoved && { url: { hash, sealed } }) };
  plan.subscriptions.change.push({
    id: now.id,
    version: now.updatedAtMs,
    change: fields.length === 0 ? null : wanted,
    managed: { key, marks: plan.marks({ ...entry }) },
  });
}

/** What the document had and has no more. */
function leave(
  plan: DraftPlan,
  keys: ReadonlySet<string>,
  records: ReadonlyMap<number, SubscriptionRecord>,
  met: ReadonlyMap<number, string>,
): void {
  for (const thing of plan.thingsOf("subscription")) {
    const found = records.get(thing.thingId);
    if (keys.has(thing.key) || !plan.isOurs(thing) || found === undefined || met.has(found.id)) continue;
    const id = subscriptionId(found.id);
    const about = { kind: "subscription", key: thing.key, id, name: found.name ?? thing.key, fields: [] } as const;
    if (plan.options.prune) {
      plan.changes.push({ act: "remove", ...about, note: "its monitors stay, paused" });
      plan.subscriptions.remove.push({ id: found.id, version: found.updatedAtMs });
    } else {
      plan.changes.push({ act: "release", ...about, note: "no longer in the document: it stays as it is" });
      plan.release.push({ kind: "subscription", key: thing.key });
    }
  }
}
