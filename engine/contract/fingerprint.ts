/**
 * A keyed hash of a check's kind and settings: equal ones have the same fingerprint in every monitor, process and at any time. It is keyed,
 * because settings hold passwords that are short enough to be guessed from a plain hash.
 */
import { createHmac } from "node:crypto";
import type { CheckSpec, ConfigSpec } from "./messages.ts";

export type Fingerprint = (spec: Pick<ConfigSpec, "kind" | "settings">) => string;

/** @returns 43 characters of base64url: HMAC-SHA-256 (RFC 2104) over kind and settings, members by name */
export function createFingerprint(key: Uint8Array | string): Fingerprint {
  return ({ kind, settings }) =>
    createHmac("sha256", key)
      .update(`quarantine\0${kind}\0${JSON.stringify(settings, inOrder)}`)
      .digest("base64url");
}

/** What a lease of an account is called, which is in Redis in clear. @param identity of a parsed tunnel */
export function accountName(fingerprint: Fingerprint, kind: ConfigSpec["kind"], identity: string): string {
  return fingerprint({ kind, settings: { account: identity } });
}

/** A replacer for JSON.stringify that sorts members by name, so that the order in which they were written makes no difference. */
function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @returns what a spec runs: its own settings, or the configs of its monitor. What has a fault is not run and is left out. */
export function configsOf(
  spec: CheckSpec,
): readonly (Pick<ConfigSpec, "kind" | "settings"> & { readonly id: number })[] {
  const { configs = [] } = spec;
  if (configs.length > 0) return configs.filter(({ fault }) => fault === undefined);
  return spec.fault === undefined ? [{ id: 0, kind: spec.kind, settings: spec.settings }] : [];
}
