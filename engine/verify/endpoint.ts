/** Verify endpoints (SONDE_VERIFY_URLS): what is asked through a proxy, and the answer that proves the passage. Pure. */
import { parseUrl, withoutBrackets } from "../../model/url.ts";
import { literalOf } from "../net/literal.ts";

export type Proof = "204" | "trace" | "ip" | "token" | "ok";

export interface VerifyEndpoint {
  /** As the operator wrote it, for messages. */
  readonly text: string;
  readonly host: string;
  readonly port: number;
  readonly isHttps: boolean;
  readonly proof: Proof;
  /** Path and query without the token. */
  readonly path: string;
  /** The host as the request names it. */
  readonly authority: string;
}

/** Networks of different companies, each of which answers from close to the server; the first two report the address too. */
export const STANDARD_VERIFY_URLS = [
  "https://www.cloudflare.com/cdn-cgi/trace#trace",
  "https://api.ipify.org/#ip",
  "https://www.gstatic.com/generate_204#204",
  "https://checkip.amazonaws.com/#ip",
] as const;

const PROOFS: ReadonlySet<string> = new Set(["204", "trace", "ip", "token", "ok"]);
const TOKEN_PARAMETER = "token";

/** An entry of SONDE_VERIFY_URLS that cannot be used. */
export class VerifyUrlError extends Error {
  override readonly name = "VerifyUrlError";

  constructor(entry: string) {
    super(
      `SONDE_VERIFY_URLS: "${entry}" is not an http or https URL that ends with what is expected: #204, #trace, #ip or #token, or https with #ok`,
    );
  }
}

/** @throws VerifyUrlError */
export function parseVerifyUrl(entry: string): VerifyEndpoint {
  const url = parseUrl(entry);
  const proof = url?.hash.slice(1) ?? "";
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === undefined || !isHttp || !isProof(proof) || url.username !== "" || url.password !== "") {
    throw new VerifyUrlError(entry);
  }
  const isHttps = url.protocol === "https:";
  // Without a certificate any captive portal answers so.
  if (proof === "ok" && !isHttps) throw new VerifyUrlError(entry);
  url.searchParams.delete(TOKEN_PARAMETER);
  return {
    text: `${url.origin}${url.pathname}`,
    host: withoutBrackets(url.hostname),
    port: url.port === "" ? (isHttps ? 443 : 80) : Number(url.port),
    isHttps,
    proof,
    path: `${url.pathname}${url.search}`,
    authority: url.host,
  };
}

function isProof(text: string): text is Proof {
  return PROOFS.has(text);
}

/** Whether its answer says where the traffic left from. */
export function tellsAddress({ proof }: VerifyEndpoint): boolean {
  return proof === "trace" || proof === "ip";
}

/** Whether its answer says the country too, where the endpoint knows it. */
export function tellsCountry({ proof }: VerifyEndpoint): boolean {
  return proof === "trace";
}

export function requestOf({ path, authority, proof }: VerifyEndpoint, token: string): Buffer {
  const mark = path.includes("?") ? "&" : "?";
  const target = proof === "token" ? `${path}${mark}${TOKEN_PARAMETER}=${token}` : path;
  const lines = [`GET ${target} HTTP/1.1`, `Host: ${authority}`, "User-Agent: Sonde", "Accept: */*", "", ""];
  return Buffer.from(lines.join("\r\n"), "latin1");
}

/** Where traffic left from. */
export interface Exit {
  readonly ip: string;
  /** ISO 3166-1 alpha-2; null: not reported. */
  readonly country: string | null;
}

export type Answer =
  | { readonly kind: "proof"; readonly exit: Exit | null }
  /** Something answered, and not what is expected: a captive portal, a decoy, a page of an error. */
  | { readonly kind: "other"; readonly words: string; readonly isComplaint: boolean };

/** Of a server that cannot read the request (RFC 9110, sections 15.5 and 15.6): it was sent something else than HTTP. */
const COMPLAINTS: ReadonlySet<number> = new Set([400, 405, 501, 505]);

/** @param body as far as it was read */
export function judgeAnswer({ proof }: VerifyEndpoint, token: string, status: number, body: string): Answer {
  const other: Answer = {
    kind: "other",
    words: `status ${status}, and not the expected answer`,
    isComplaint: COMPLAINTS.has(status),
  };
  if (proof === "204") return status === 204 ? UNTOLD : other;
  if (proof === "ok") return status >= 200 && status < 400 ? UNTOLD : other;
  if (status !== 200) return other;
  if (proof === "token") return body.trim() === token ? UNTOLD : other;
  const text = proof === "trace" ? /^ip=(\S+)\s*$/m.exec(body)?.[1] : ipIn(body);
  const literal = text === undefined ? undefined : literalOf(text);
  if (literal === undefined || literal.hasZone) return other;
  return { kind: "proof", exit: { ip: literal.ip, country: proof === "trace" ? countryIn(body) : null } };
}

const UNTOLD: Answer = { kind: "proof", exit: null };

/** Of Cloudflare's trace; `XX` and `T1` stand for what is no country. */
function countryIn(trace: string): string | null {
  const country = /^loc=([A-Z]{2})\s*$/m.exec(trace)?.[1];
  return country === undefined || country === "XX" ? null : country;
}

/** An address alone, or JSON with a member `ip`. */
function ipIn(body: string): string | undefined {
  const text = body.trim();
  if (!text.startsWith("{")) return text;
  try {
    const { ip } = JSON.parse(text) as { readonly ip?: unknown };
    return typeof ip === "string" ? ip : undefined;
  } catch {
    return undefined;
  }
}
