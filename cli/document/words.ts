/** A plan as people read it. Pure. */
import type { Change, FieldChange, Plan } from "../../model/document/plan.ts";
import { plain } from "../table.ts";

const SIGNS = { create: "+", adopt: "&", change: "~", replace: "!", remove: "-", release: "?" } as const;
/** Fields by which a new thing is shown. */
const MOST_FIELDS = 6;
const MOST_LINES = 200;

/** @param url of the service */
export function planWords(plan: Plan, project: string): string {
  const lines = [`Plan for ${quoted(plan.name)} in ${project}`];
  const widest = Math.min(40, Math.max(0, ...plan.changes.slice(0, MOST_LINES).map(({ key }) => key.length)));
  for (const change of plan.changes.slice(0, MOST_LINES)) lines.push(changeWords(change, widest));
  const left = plan.changes.length - MOST_LINES;
  if (left > 0) lines.push(`  … and ${left} more (--json has all)`);
  for (const { kind, key, message } of plan.refused.slice(0, MOST_LINES))
    lines.push(`  x ${kind.padEnd(12)} ${plain(key).padEnd(widest)}  ${plain(message)}`);
  lines.push(summary(plan));
  return `${lines.join("\n")}\n`;
}

function changeWords({ act, kind, key, fields, note }: Change, widest: number): string {
  const told = fields.slice(0, MOST_FIELDS).map((field) => (act === "create" ? newField(field) : changedField(field)));
  const more = fields.length > MOST_FIELDS ? [`${fields.length - MOST_FIELDS} more fields`] : [];
  const words = [...told, ...more, ...(note === undefined ? [] : [note])];
  return `  ${SIGNS[act]} ${kind.padEnd(12)} ${plain(key).padEnd(widest)}  ${words.join(" · ")}`.trimEnd();
}

function newField({ field, to, secret }: FieldChange): string {
  return secret === true ? field : `${field} ${value(to)}`;
}

function changedField({ field, from, to, secret, drift }: FieldChange): string {
  const elsewhere = drift === true ? " (changed elsewhere)" : "";
  if (secret === true) return `${field} changed${elsewhere}`;
  return `${field} ${value(from)} → ${value(to)}${elsewhere}`;
}

function value(one: unknown): string {
  if (one === undefined || one === null) return "none";
  const text = typeof one === "string" ? one : JSON.stringify(one);
  return plain(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

const COUNTED = [
  ["create", "to add"],
  ["adopt", "to take over"],
  ["change", "to change"],
  ["replace", "to make anew"],
  ["remove", "to remove"],
  ["release", "kept"],
] as const;

function summary({ changes, unchanged, refused }: Plan): string {
  const counts = COUNTED.map(([act, words]) => [changes.filter((one) => one.act === act).length, words] as const);
  const refusedThings = new Set(refused.map(({ kind, key }) => `${kind} ${key}`)).size;
  const words = [...counts, [refusedThings, "refused"] as const, [unchanged, "unchanged"] as const]
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`);
  return words.length === 0 ? "Nothing is there, and nothing is wanted." : words.join(", ");
}

function quoted(text: string): string {
  return JSON.stringify(plain(text));
}
