/** The fields that a person fills for each kind of monitor, in their order. Others keep what they have. */
import type { NewKind } from "../state/detect.ts";
import type { Key } from "../words/words.ts";

export interface FieldSpec {
  readonly name: string;
  readonly label: Key;
  readonly type: "text" | "number" | "area" | "list" | "flag" | "choice" | "secret";
  readonly hint?: Key;
  readonly options?: readonly (readonly [string, string])[];
  /** Stays empty when nothing is written. */
  readonly optional?: true;
}

const url: FieldSpec = { name: "url", label: "field.url", type: "text" };
const host: FieldSpec = { name: "host", label: "field.host", type: "text" };
const port: FieldSpec = { name: "port", label: "field.port", type: "number" };
const codes: FieldSpec = {
  name: "accepted_statuscodes",
  label: "field.codes",
  type: "list",
  hint: "field.codesHint",
  optional: true,
};
const expiry = (name: string, label: Key): FieldSpec => ({
  name,
  label,
  type: "choice",
  options: ["", "1", "2", "3", "7", "14", "30", "60"].map((days) => [days, days] as const),
  optional: true,
});
const certificate = expiry("ssl_expiration", "field.certificate");

export const KIND_FIELDS: Readonly<Record<Exclude<NewKind, "subscription">, readonly FieldSpec[]>> = {
  http: [url, codes, certificate, expiry("domain_expiration", "field.domainExpiry")],
  keyword: [
    url,
    { name: "keyword", label: "field.keyword", type: "text", hint: "field.keywordHint" },
    { name: "invert_keyword", label: "field.invert", type: "flag" },
    codes,
    certificate,
  ],
  ping: [host],
  port: [host, port],
  dns: [
    { name: "domain", label: "field.domain", type: "text" },
    { name: "host", label: "field.resolver", type: "text", hint: "field.resolverHint", optional: true },
    { name: "keyword", label: "field.record", type: "text", hint: "field.recordHint", optional: true },
  ],
  push: [
    { name: "period", label: "field.period", type: "number", hint: "field.periodHint" },
    { name: "grace", label: "field.grace", type: "number", optional: true },
  ],
  smtp: [host, { ...port, optional: true }, certificate],
  tls: [
    host,
    { ...port, optional: true },
    { name: "servername", label: "field.servername", type: "text", optional: true },
    certificate,
  ],
  vpn: [
    {
      name: "protocol",
      label: "field.protocol",
      type: "choice",
      options: [
        "wireguard",
        "amneziawg",
        "openvpn",
        "openconnect",
        "ikev2",
        "vless",
        "vmess",
        "trojan",
        "shadowsocks",
        "hysteria2",
        "tuic",
      ].map((word) => [word, word] as const),
    },
    { name: "url", label: "field.link", type: "secret", optional: true },
    { name: "config", label: "field.config", type: "area", optional: true },
    { name: "host", label: "field.host", type: "text", optional: true },
    { name: "username", label: "field.username", type: "text", optional: true },
    { name: "password", label: "field.password", type: "secret", optional: true },
    { name: "psk", label: "field.psk", type: "secret", optional: true },
  ],
};

export type FormValues = Readonly<Record<string, string>>;

/** @returns the API's fields of what was written; empty optional ones are left out, or null where that takes them away */
export function bodyOf(specs: readonly FieldSpec[], values: FormValues, emptyIsNull: boolean): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name, type, optional } of specs) {
    const text = (values[name] ?? "").trim();
    if (type === "flag") body[name] = text === "true";
    else if (text === "" && optional === true) {
      if (emptyIsNull && type !== "secret" && type !== "list" && type !== "area") body[name] = null;
    } else if (type === "list") body[name] = listOf(text);
    else if (type === "number" || name.endsWith("_expiration")) body[name] = /^\d+$/.test(text) ? Number(text) : text;
    else body[name] = text;
  }
  return body;
}

export function listOf(text: string): readonly string[] {
  return text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** @returns what of a record goes into the form */
export function valuesOf(specs: readonly FieldSpec[], record: Readonly<Record<string, unknown>>): FormValues {
  return Object.fromEntries(specs.map(({ name }) => [name, textOf(record[name])]));
}

export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return Array.isArray(value) ? value.join(", ") : String(value);
}
