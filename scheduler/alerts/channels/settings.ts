/**
 * Settings of a channel: what a caller sends becomes what is kept in clear and what is sealed, and back. Secrets go in and never come out: those
 * that are not sent stay, those that are null go. Pure.
 */
import { z } from "zod";
import type { DefinedChannel } from "./define.ts";
import { isSecret } from "./fields.ts";

export type Values = Readonly<Record<string, unknown>>;

export interface SplitSettings {
  /** In clear. */
  readonly settings: Values;
  readonly secrets: Values;
  /** Of secrets that have a value; of an object each of its names: `secrets.token`. */
  readonly secretNames: readonly string[];
}

export type SettingsRead = ({ readonly fault: null } & SplitSettings) | { readonly fault: string };

export function secretFields({ schema }: DefinedChannel): readonly string[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => (isSecret(field as z.ZodType) ? [name] : []));
}

/**
 * @param sent what the caller says; of what is no secret, what is absent is not set
 * @param before what is kept now; null: there is none yet
 */
export function readSettings(
  kind: DefinedChannel,
  sent: Values,
  before: Pick<SplitSettings, "settings" | "secrets"> | null,
): SettingsRead {
  const secret = secretFields(kind);
  const kept = before?.secrets ?? {};
  const merged: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(sent)) {
    if (!secret.includes(name) && value !== null) merged[name] = value;
  }
  for (const name of secret) {
    const value = Object.hasOwn(sent, name) ? mergedSecret(sent[name], kept[name]) : kept[name];
    if (value !== undefined && value !== null) merged[name] = value;
  }
  const parsed = kind.schema.safeParse(merged);
  if (!parsed.success) return { fault: faultOf(parsed.error, merged) };
  const moved = movedPlace(kind, parsed.data, sent, before);
  if (moved !== null) return { fault: moved };
  return { fault: null, ...split(secret, parsed.data) };
}

/** An object's names are merged one by one: null takes one away. */
function mergedSecret(sent: unknown, kept: unknown): unknown {
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) return sent;
  const all = { ...(typeof kept === "object" && !Array.isArray(kept) ? kept : {}), ...sent };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

/** A secret never goes to another place than the one it was given for: who may edit could read it there. */
function movedPlace(
  kind: DefinedChannel,
  after: Values,
  sent: Values,
  before: Pick<SplitSettings, "settings" | "secrets"> | null,
): string | null {
  if (before === null) return null;
  const place = kind.places.find((name) => JSON.stringify(after[name]) !== JSON.stringify(before.settings[name]));
  if (place === undefined) return null;
  const stays = namesOf(before.secrets).find((name) => !wasSent(name, sent));
  return stays === undefined ? null : `${place}: ${stays} was given for another ${place}: send it again.`;
}

function wasSent(name: string, sent: Values): boolean {
  const [field = "", member] = name.split(".", 2);
  if (!Object.hasOwn(sent, field)) return false;
  const value = sent[field];
  return member === undefined || value === null || (typeof value === "object" && Object.hasOwn(value, member));
}

function split(secret: readonly string[], values: Values): SplitSettings {
  const entries = Object.entries(values);
  const secrets = Object.fromEntries(entries.filter(([name, value]) => secret.includes(name) && value !== null));
  return {
    settings: Object.fromEntries(entries.filter(([name]) => !secret.includes(name))),
    secrets,
    secretNames: namesOf(secrets),
  };
}

function namesOf(secrets: Values): readonly string[] {
  return Object.entries(secrets).flatMap(([name, value]) => {
    if (value === null || value === undefined) return [];
    return typeof value === "object" && !Array.isArray(value)
      ? Object.keys(value).map((member) => `${name}.${member}`)
      : [name];
  });
}

/** The first fault, as `field: what is wrong.` @param values what was read */
function faultOf({ issues }: z.ZodError, values: Values): string {
  const [issue] = issues;
  if (issue === undefined) return "settings cannot be used.";
  if (issue.code === "unrecognized_keys") return `settings: there is no ${issue.keys[0]?.slice(0, 60)} here.`;
  const [first] = issue.path;
  const field = first === undefined ? "settings" : String(first).slice(0, 60);
  const isMissing = issue.code === "invalid_type" && issue.path.length === 1 && !Object.hasOwn(values, field);
  return `${field}: ${isMissing ? "is needed" : issue.message}.`;
}

/** Every text that is secret, longest first, so that one within another does not leave a part of it. */
export function secretTexts(kind: DefinedChannel, settings: Values): readonly string[] {
  const texts = secretFields(kind).flatMap((name) => textsOf(settings[name]));
  return [...new Set(texts)].sort((a, b) => b.length - a.length);
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

/** For clients: each field with its description, what it may hold, and whether it is secret (`x-secret`). */
export function jsonSchemaOf({ schema }: DefinedChannel): Readonly<Record<string, unknown>> {
  const { $schema: _version, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest;
}
