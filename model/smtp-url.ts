/** A mail server as one address: `smtps://user:password@host:465`, `smtp://user:password@host:587`. Pure. */
import { parseUrl, withoutBrackets } from "./url.ts";

/** RFC 8314 section 3.3, RFC 6409 section 3.1. */
const PORTS = { "smtps:": 465, "smtp:": 587 } as const;

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS. */
  readonly isTls: boolean;
  readonly user: string | null;
  readonly password: string;
}

/** @returns undefined when it is none */
export function parseSmtpUrl(text: string): SmtpServer | undefined {
  const url = parseUrl(text);
  if (url === undefined || (url.protocol !== "smtp:" && url.protocol !== "smtps:") || url.hostname === "")
    return undefined;
  if (!/^\/?$/.test(url.pathname) || url.search !== "" || url.hash !== "") return undefined;
  try {
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    return {
      host: withoutBrackets(url.hostname),
      port: url.port === "" ? PORTS[url.protocol] : Number(url.port),
      isTls: url.protocol === "smtps:",
      user: user === "" ? null : user,
      password,
    };
  } catch {
    return undefined;
  }
}

/** Local part and domain of ASCII, as mail servers without SMTPUTF8 take them (RFC 5321 section 4.1.2); quoted local parts are left out. */
const ADDRESS =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){0,10}[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** RFC 5321 section 4.5.3.1.3, octets of a path without its brackets. */
const MOST_ADDRESS = 254;

export function isMailAddress(text: string): boolean {
  return text.length <= MOST_ADDRESS && ADDRESS.test(text);
}

/** `Sonde <sonde@test-site.org>`, or the address alone. @returns undefined when it is neither */
export function parseSender(text: string): { readonly name: string; readonly address: string } | undefined {
  const trimmed = text.trim();
  if (isMailAddress(trimmed)) return { name: "", address: trimmed };
  const at = trimmed.lastIndexOf("<");
  if (at <= 0 || !trimmed.endsWith(">")) return undefined;
  const [name, address] = [trimmed.slice(0, at).trim(), trimmed.slice(at + 1, -1)];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return isMailAddress(address) && !/[\u0000-\u001f\u007f"<>]/.test(name) ? { name, address } : undefined;
}
