/** The fields that a person fills for each kind of monitor, in their order. Others keep what they have. */
import type { NewKind } from "../state/detect.ts";
import type { Key } from "../words/words.ts";

export interface FieldSpec {
  readonly name: string;
  readonly label: Key;
  readonly type: "text" | "number" | "area" | "list" | "flag" | "choice" | "secret" | "headers" | "lines" | "records";
  readonly hint?: Key;
  readonly options?: readonly (readonly [string, string])[];
  /** Stays empty when nothing is written. */
  readonly optional?: true;
  /** Not optional for these protocols of tunnels. */
  readonly neededBy?: ReadonlySet<string>;
  /** Of a flag: nothing written means yes. */
  readonly isOnByDefault?: true;
  /** Of a change: shown when the person asks for more. */
  readonly isRare?: true;
}

/** Protocols that have a host and a login in place of a link or a file. */
export const LOGINS: ReadonlySet<string> = new Set(["openconnect", "ikev2"]);

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

/** Nothing chosen asks for A and AAAA. */
const RECORD_TYPES = ["", "A", "AAAA", "CNAME", "MX", "NS", "TXT", "SOA", "SRV", "PTR", "CAA"].map(
  (word) => [word, word] as const,
);
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const rare = { optional: true, isRare: true } as const;
/** What a website is asked beside a plain GET. Secrets come as ***, which the API takes for what it keeps. */
const request: readonly FieldSpec[] = [
  { ...rare, name: "method", label: "field.method", type: "choice", options: METHODS.map((word) => [word, word]) },
  { ...rare, name: "headers", label: "field.headers", type: "headers", hint: "field.headersHint" },
  { ...rare, name: "body", label: "field.body", type: "lines", hint: "field.hiddenHint" },
  { ...rare, name: "basic_auth_username", label: "field.authUser", type: "text", hint: "field.hiddenHint" },
  { ...rare, name: "basic_auth_password", label: "field.authPassword", type: "text", hint: "field.hiddenHint" },
  { ...rare, name: "bearer_token", label: "field.bearer", type: "text", hint: "field.hiddenHint" },
  { ...rare, name: "client_certificate", label: "field.clientCertificate", type: "lines", hint: "field.pemHint" },
  { ...rare, name: "client_key", label: "field.clientKey", type: "lines", hint: "field.pemHint" },
  { ...rare, name: "max_redirects", label: "field.redirects", type: "number", hint: "field.redirectsHint" },
  { ...rare, name: "body_regex", label: "field.regex", type: "text", hint: "field.regexHint" },
  { ...rare, name: "json_query", label: "field.query", type: "text", hint: "field.queryHint" },
  { ...rare, name: "json_expected", label: "field.queryExpected", type: "text" },
  { ...rare, name: "max_response_time", label: "field.maxResponse", type: "number", hint: "field.maxResponseHint" },
  { ...rare, name: "verify_certificate", label: "field.verify", type: "flag", isOnByDefault: true },
  { ...rare, name: "invert", label: "field.upsideDown", type: "flag" },
];

export const KIND_FIELDS: Readonly<Record<Exclude<NewKind, "subscription">, readonly FieldSpec[]>> = {
  http: [url, codes, certificate, expiry("domain_expiration", "field.domainExpiry"), ...request],
  keyword: [
    url,
    { name: "keyword", label: "field.keyword", type: "text", hint: "field.keywordHint" },
    { name: "invert_keyword", label: "field.invert", type: "flag" },
    codes,
    certificate,
    ...request,
  ],
  ping: [host],
  port: [host, port],
  dns: [
    { name: "domain", label: "field.domain", type: "text" },
    { name: "host", label: "field.resolver", type: "text", hint: "field.resolverHint", optional: true },
    { name: "record_type", label: "field.recordType", type: "choice", options: RECORD_TYPES, optional: true },
    { name: "expected", label: "field.records", type: "records", hint: "field.recordsHint", optional: true },
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
      optional: true,
      options: [
        "",
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
    { ...host, optional: true, neededBy: LOGINS },
    { name: "username", label: "field.username", type: "text", optional: true },
    { name: "password", label: "field.password", type: "secret", optional: true },
    { name: "psk", label: "field.psk", type: "secret", optional: true },
  ],
};

export type FormValues = Readonly<Record<string, string>>;

/** @returns the API's fields of what was written; empty optional ones are left out, or null where that takes them away */
export function bodyOf(specs: readonly FieldSpec[], values: FormValues, emptyIsNull: boolean): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name, type, optional, isOnByDefault } of specs) {
    const text = (values[name] ?? "").trim();
    // A rare flag that was not touched says nothing.
    if (type === "flag" && text === "" && optional === true) continue;
    if (type === "flag") body[name] = isOnByDefault === true ? text !== "false" : text === "true";
    else if (type === "headers" && text !== "") body[name] = headersOf(text);
    else if (type === "records" && text !== "") body[name] = recordsOf(text);
    else if (type === "lines" && text !== "") body[name] = values[name];
    else if (text === "" && optional === true) {
      if (emptyIsNull && type !== "secret" && type !== "list" && type !== "area") body[name] = null;
    } else if (type === "list") body[name] = listOf(text);
    else if (type === "number" || name.endsWith("_expiration")) body[name] = numberOf(text);
    else body[name] = text;
  }
  return body;
}

/** What is no number is left to the API's own words: in JSON it would be null, which says something else in many fields. */
export function numberOf(text: string): number | string {
  return /^\d+$/.test(text.trim()) ? Number(text) : text;
}

/** A line without a colon is a header without a value, which the API may refuse by its name. */
function headersOf(text: string): Readonly<Record<string, string>> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.includes(":") ? line.indexOf(":") : line.length;
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

/** One a line: texts of records may have commas. */
function recordsOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

export function listOf(text: string): readonly string[] {
  return text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** @param values of the whole form */
export function isOptional({ optional, neededBy }: FieldSpec, { protocol = "" }: FormValues): boolean {
  return optional === true && neededBy?.has(protocol) !== true;
}

/** @returns what of a record goes into the form */
export function valuesOf(specs: readonly FieldSpec[], record: Readonly<Record<string, unknown>>): FormValues {
  return Object.fromEntries(specs.map(({ name, type }) => [name, fieldText(record[name], type)]));
}

function fieldText(value: unknown, type: FieldSpec["type"]): string {
  return type === "records" && Array.isArray(value) ? value.join("\n") : textOf(value);
}

export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value !== "object") return String(value);
  return Object.entries(value)
    .map(([name, one]) => `${name}: ${one}`)
    .join("\n");
}
