/** From the text of a document to the plan of what applying it would do. Nothing is written. */
import { type Document, SECTIONS, type Section } from "../../model/document/document.ts";
import type { Plan, ThingKind } from "../../model/document/plan.ts";
import { readDocumentInSteps } from "../../model/document/read.ts";
import { openHashKey } from "../../store/sealing/hash-key.ts";
import type { ApplyOrder } from "../../store/sql/documents/port.ts";
import type { Api } from "../api.ts";
import { refusal } from "../errors.ts";
import type { ProjectCall } from "../route.ts";
import { type ApplyOptions, DraftPlan } from "./draft-plan.ts";
import { planMonitors } from "./monitors.ts";
import { Slices } from "./slices.ts";
import { planSubscriptions } from "./subscriptions.ts";
import { WORDS } from "./words.ts";

/** The name of a document that has none. */
const STANDARD_NAME = "default";
/** Sections that this version reads and does not write yet, with the kind of their things. */
const REFUSED: Readonly<Partial<Record<Section, ThingKind>>> = {
  channels: "channel",
  alert_rules: "alert_rule",
  quiet_hours: "quiet_hours",
  maintenance: "maintenance",
  status_pages: "status_page",
};

export interface MadePlan {
  readonly plan: Plan;
  readonly order: ApplyOrder;
}

/** @param name in the place of the document's own; null: its own @throws 400 with every fault */
export async function makePlan(
  api: Api,
  call: ProjectCall,
  text: string,
  name: string | null,
  options: ApplyOptions,
): Promise<MadePlan> {
  const { document, faults, lineOf } = await new Slices().run(readDocumentInSteps(text, WORDS));
  if (document === null) throw refusal("documentInvalid", { details: { errors: faults } });
  const { documents } = api.controlPlane;
  const known = await documents.list(call.project.id);
  const ownName = name ?? document.name ?? STANDARD_NAME;
  const draft = new DraftPlan(api, call, ownName, options, {
    lineOf,
    hashKey: await openHashKey(api.controlPlane, api.sealing),
    things: await documents.things(call.project.id),
    documentId: known.find((one) => one.name === ownName)?.id ?? null,
    names: new Map(known.map((one) => [one.id, one.name])),
  });
  refuseUnsupported(draft, document);
  await planSubscriptions(draft, document);
  await planMonitors(draft, document);
  if (draft.faults.length > 0) throw refusal("documentInvalid", { details: { errors: draft.faults } });
  const plan = planOf(draft);
  return { plan, order: orderOf(draft, plan.hash) };
}

/** Importers write them: so they are refused one by one, and the rest of the document can be applied without them. */
function refuseUnsupported(draft: DraftPlan, document: Document): void {
  for (const section of SECTIONS) {
    const kind = REFUSED[section];
    if (kind === undefined) continue;
    const things = document[section] ?? {};
    // Of a list, its positions are the keys.
    for (const key of Object.keys(things)) {
      const path = [section, Array.isArray(things) ? Number(key) : key];
      draft.refuse(kind, key, path, `This version does not make ${section} of documents yet.`);
    }
  }
}

function planOf(draft: DraftPlan): Plan {
  const { name, changes, unchanged, refused } = draft;
  return { name, hash: draft.hash(), changes, unchanged, refused };
}

function orderOf(draft: DraftPlan, hash: string): ApplyOrder {
  const { call, name, monitors, subscriptions, seen, release } = draft;
  return {
    projectId: call.project.id,
    organizationId: call.project.organizationId,
    name,
    hash,
    nowMs: call.nowMs,
    actor: call.actor,
    slots: call.plan.tunnelSlots,
    monitors,
    subscriptions,
    seen,
    release,
  };
}
