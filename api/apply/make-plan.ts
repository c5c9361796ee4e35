/** From the text of a document to the plan of what applying it would do. Nothing is written. */
import type { Document } from "../../model/document/document.ts";
import type { Plan } from "../../model/document/plan.ts";
import { openHashKey } from "../../store/sealing/hash-key.ts";
import { Slices } from "../../store/slices.ts";
import type { ApplyOrder } from "../../store/sql/documents/port.ts";
import type { Api } from "../api.ts";
import { refusal } from "../errors.ts";
import type { ProjectCall } from "../route.ts";
import { documentOf } from "../texts/parts.ts";
import { planAlertRules } from "./alert-rules.ts";
import { planChannels } from "./channels.ts";
import { type ApplyOptions, DraftPlan } from "./draft-plan.ts";
import { planMaintenance } from "./maintenance.ts";
import { planMonitors } from "./monitors.ts";
import { planQuietHours } from "./quiet-hours.ts";
import { References } from "./references.ts";
import { planStatusPages } from "./status-pages.ts";
import { planSubscriptions } from "./subscriptions.ts";

/** The name of a document that has none. */
const STANDARD_NAME = "default";
export interface MadePlan {
  readonly plan: Plan;
  /** null: it was only looked at, and nothing of it was sealed. */
  readonly order: ApplyOrder | null;
  /** Of pages that would be written. */
  readonly pageSlugs: readonly string[];
}

/** @param name in the place of the document's own; null: its own @throws 400 with every fault of its form */
export async function makePlan(
  api: Api,
  call: ProjectCall,
  text: string,
  name: string | null,
  options: ApplyOptions,
): Promise<MadePlan> {
  const { parts, faults } = await api.texts.readDocument(call.workspace.id, text);
  if (parts === null) throw refusal("documentInvalid", { details: { errors: faults } });
  const document = await documentOf(parts, new Slices());
  const { documents } = api.controlPlane;
  const known = await documents.list(call.project.id);
  const ownName = name ?? document.name ?? STANDARD_NAME;
  const draft = new DraftPlan(api, call, ownName, options, {
    hashKey: await openHashKey(api.controlPlane, api.sealing),
    documentId: known.find((one) => one.name === ownName)?.id ?? null,
    names: new Map(known.map((one) => [one.id, one.name])),
  });
  for await (const things of documents.things(call.project.id)) draft.know(things);
  await planSections(draft, document);
  if (draft.refused.length > 0) {
    draft.place(await api.texts.linesOf(call.workspace.id, text, draft.refusedAt));
  }
  const plan = await planOf(draft);
  return { plan, order: options.isDry ? null : orderOf(draft, plan.hash), pageSlugs: draft.pageSlugs };
}

/** What is named before what names it. */
async function planSections(draft: DraftPlan, document: Document): Promise<void> {
  const references = new References(draft, document);
  await planSubscriptions(draft, document, references);
  await planMonitors(draft, document, references);
  await planChannels(draft, document, references);
  await planQuietHours(draft, document, references);
  await planAlertRules(draft, document, references);
  await planMaintenance(draft, document, references);
  await planStatusPages(draft, document, references);
}

async function planOf(draft: DraftPlan): Promise<Plan> {
  const { name, changes, unchanged, refused } = draft;
  return { name, hash: await draft.hash(), changes, unchanged, refused };
}

function orderOf(draft: DraftPlan, hash: string): ApplyOrder {
  const { call, name, monitors, subscriptions, channels, quietHours, rules, maintenance, pages, seen, release } = draft;
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
    channels,
    quietHours,
    rules,
    maintenance,
    pages,
    seen,
    release,
  };
}
