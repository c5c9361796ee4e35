/** What importers of several sources need to say how alerts are sent. */
import type { FieldValue } from "../../model/document/document.ts";
import { parseUrl } from "../../model/url.ts";
import { booleanIn, type Fields, listIn, numberIn, textIn } from "./values.ts";

/** Fields of a channel of ours; undefined ones are left out. */
export interface ChannelParts {
  readonly kind: string;
  readonly [field: string]: FieldValue | undefined;
}

/** Of a list of addresses. */
const MOST_ADDRESSES = 50;

/** `a@x, b@x` or a list of them. */
export function addressesIn(value: unknown): readonly string[] | undefined {
  const texts = Array.isArray(value)
    ? listIn(value).flatMap((one) => textIn(one) ?? [])
    : (textIn(value) ?? "").split(/[,;]/);
  const addresses = texts.map((one) => one.trim()).filter((one) => one !== "");
  return addresses.length === 0 ? undefined : addresses.slice(0, MOST_ADDRESSES);
}

/** A mail server as one address; name and password may have any character. */
export function smtpUrl(server: {
  readonly host: unknown;
  readonly port: unknown;
  readonly isTls: unknown;
  readonly user: unknown;
  readonly password: unknown;
}): string | undefined {
  const host = textIn(server.host)?.trim();
  if (host === undefined) return undefined;
  const isTls = booleanIn(server.isTls) === true || numberIn(server.port) === 465;
  const user = textIn(server.user);
  const login = user === undefined ? "" : `${encoded(user)}:${encoded(textIn(server.password) ?? "")}@`;
  const port = numberIn(server.port) ?? (isTls ? 465 : 587);
  return `${isTls ? "smtps" : "smtp"}://${login}${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Half of a pair of surrogates has no encoding. */
function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return "";
  }
}

/** A whole number as a text or a number; undefined for what is none. */
export function wholeIn(value: unknown): number | undefined {
  const number = numberIn(value);
  return number !== undefined && Number.isSafeInteger(number) ? number : undefined;
}

/** Headers of a request: texts by name. */
export function headersIn(fields: Fields): Readonly<Record<string, string>> | undefined {
  const headers = Object.entries(fields).flatMap(([name, value]) => {
    const text = textIn(value);
    return text === undefined ? [] : [[name, text] as const];
  });
  return headers.length === 0 ? undefined : Object.fromEntries(headers);
}

/** What is sent is no secret, only how it is written. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set(["accept", "content-type"]);

/**
 * Headers of our `custom` channel, which all who may read the project see: their values move into `secrets`, which is sealed. Templates stay, because
 * a secret's text is none.
 */
export function sealedHeaders(headers: Readonly<Record<string, string>>): Omit<ChannelParts, "kind"> {
  const secrets: Record<string, string> = {};
  const templates = Object.entries(headers).map(([name, value]) => {
    if (value === "" || value.includes("{{") || value.includes("{%") || PLAIN_HEADERS.has(name.toLowerCase()))
      return [name, value] as const;
    const secret = secretName(name, secrets);
    secrets[secret] = value;
    return [name, `{{ secret.${secret} }}`] as const;
  });
  return { headers: Object.fromEntries(templates), ...(Object.keys(secrets).length > 0 && { secrets }) };
}

/** As names of secrets are: up to 40 of a-z, 0-9 and _. */
function secretName(header: string, taken: Readonly<Record<string, string>>): string {
  const plain = `header_${header.toLowerCase().replace(/[^a-z0-9]/g, "_")}`.slice(0, 36);
  let name = plain;
  for (let count = 2; Object.hasOwn(taken, name); count++) name = `${plain}_${count}`;
  return name;
}

/** Without a slash at its end: paths are added to it. */
export function baseUrlIn(value: unknown): string | undefined {
  const text = textIn(value)?.trim();
  if (text === undefined || parseUrl(text) === undefined) return text;
  return text.endsWith("/") ? text.slice(0, -1) : text;
}
