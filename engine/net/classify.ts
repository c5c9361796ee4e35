/**
 * The only place that maps an error thrown in a check to a verdict and to the text of `error_message`:
 * NetworkFault, Node's system error codes, TLS and certificate errors, undici, HTTP parser and zlib errors, aborts.
 * An unknown error counts as a fault of Sonde, never of the target: `internal-error`.
 */
import type { Phase } from "../../model/result.ts";
import { CERTIFICATE_PROBLEMS, type Classified, LOCAL_REFUSALS, SYSTEM_CODES } from "./classify-codes.ts";
import { DeadlinePassed, NetworkFault } from "./fault.ts";

export type { Classified } from "./classify-codes.ts";

/** Longest message that is kept, characters (model/result.ts, Explanation). */
const MESSAGE_LENGTH = 500;
/** A cause chain or an AggregateError deeper than this is not looked into. */
const CAUSE_DEPTH = 5;

/** Of a file of this machine, in the message of an error that none of our own code made. */
const OWN_PATH = /(?<![\w:/.])(?:file:\/\/)?(?:\/[^\s/'"`]+){2,}/g;

const TIMED_OUT: Readonly<Record<Phase | "unknown", string>> = {
  resolve: "The DNS servers did not answer in time",
  connect: "The connection attempt timed out",
  handshake: "The handshake timed out",
  request: "No answer in time",
  transfer: "The answer did not end in time",
  unknown: "No answer in time",
};

/** @param stage the phase in which it was thrown; null before the first */
export function classify(error: unknown, stage: Phase | null): Classified {
  return classifyDeep(error, stage, 0);
}

/** For callers that hold a bare code, such as TLSSocket.authorizationError. Undefined when the code says nothing. */
export function classifyCode(code: string, stage: Phase | null, address?: string): Classified | undefined {
  const certificate = CERTIFICATE_PROBLEMS.get(code);
  if (certificate !== undefined) return { verdict: "cert-invalid", message: certificate };
  if (LOCAL_REFUSALS.has(code)) {
    return {
      verdict: "unfit",
      message: `This checker could not open a connection: ${LOCAL_REFUSALS.get(code) ?? code}`,
    };
  }
  if (code === "EACCES") return deniedBy(address);
  const known = SYSTEM_CODES.get(code);
  if (known?.verdict === "timeout") return timedOut(stage);
  if (known !== undefined) return known;
  return ofCodeFamily(code, stage);
}

/** Whether this machine, not the target, refused: counted by the prober's fitness. */
export function isLocalRefusal(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && LOCAL_REFUSALS.has(code);
}

/** Foreign text made safe to store and print: control and bidirectional characters become spaces (docs/decisions/0004-address-guard.md). */
export function plainText(text: string): string {
  const plain = text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    .replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g, " ")
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .trim();
  return plain.length <= MESSAGE_LENGTH
    ? plain
    : `${plain.slice(0, MESSAGE_LENGTH - 1).replace(/\p{Surrogate}$/u, "")}…`;
}

function classifyDeep(error: unknown, stage: Phase | null, depth: number): Classified {
  if (error instanceof NetworkFault) return ofFault(error);
  if (error instanceof DeadlinePassed) return timedOut(stage);
  if (!(error instanceof Error)) return { verdict: "internal-error", message: plainText(`Thrown: ${textOf(error)}`) };
  if (depth < CAUSE_DEPTH) {
    if (error instanceof AggregateError && error.errors.length > 0) return ofMany(error.errors, stage, depth);
    // undici and fetch wrap what happened; the innermost error that says something is the true one.
    const inner = causeOf(error);
    if (inner !== undefined) {
      const found = classifyDeep(inner, stage, depth + 1);
      if (found.verdict !== "internal-error") return found;
    }
  }
  const code = codeOf(error);
  const known = code === undefined ? undefined : classifyCode(code, stage, addressOf(error));
  if (known !== undefined) return withWords(known, error, code);
  // AbortSignal.timeout() and abort() without a reason of ours: only deadlines abort checks.
  if (error.name === "AbortError" || error.name === "TimeoutError") return timedOut(stage);
  const message = plainText(`${textOf(error.name)}: ${textOf(error.message)}`).replace(OWN_PATH, "…");
  return { verdict: "internal-error", message };
}

function ofFault(fault: NetworkFault): Classified {
  return {
    verdict: fault.verdict,
    message: plainText(fault.message),
    ...(fault.peerAnswered === undefined ? {} : { peerAnswered: fault.peerAnswered }),
    ...(fault.peer === undefined ? {} : { peer: plainText(fault.peer) }),
    ...(fault.hint === undefined ? {} : { hint: fault.hint }),
  };
}

/**
 * Of many attempts the first that learned something about the target. A missing route says little, and least says what this machine cannot do: an
 * address of IPv6, where it has none, is tried beside one that can be reached.
 */
function ofMany(errors: readonly unknown[], stage: Phase | null, depth: number): Classified {
  const all = errors.map((each) => classifyDeep(each, stage, depth + 1));
  return all[tellingIndex(all)] ?? { verdict: "internal-error", message: "All attempts failed" };
}

/** Which of several attempts decides what classify() says of their AggregateError. */
export function mostTellingOf(errors: readonly unknown[], stage: Phase | null): number {
  return tellingIndex(errors.map((each) => classify(each, stage)));
}

function tellingIndex(all: readonly Classified[]): number {
  const ranks = all.map(({ verdict }): number => {
    if (verdict === "unfit") return 3;
    if (verdict === "unreachable") return 1;
    return verdict === "unsupported" ? 0 : 2;
  });
  return ranks.indexOf(Math.max(...ranks));
}

/** The message of a time-out depends on its phase. A time-out while resolving means that the name got no address. */
function timedOut(stage: Phase | null): Classified {
  return { verdict: stage === "resolve" ? "unresolved" : "timeout", message: TIMED_OUT[stage ?? "unknown"] };
}

/**
 * EACCES from connect: over IPv6 it is what the kernel makes of an ICMPv6 "administratively prohibited" (Linux
 * icmpv6_err_convert), so a firewall on the path; over IPv4 only the policy of this machine gives it.
 */
function deniedBy(address: string | undefined): Classified {
  return address?.includes(":") === true
    ? { verdict: "unreachable", message: "A firewall on the way refused the connection" }
    : { verdict: "unfit", message: "This checker could not open a connection: not permitted here" };
}

function ofCodeFamily(code: string, stage: Phase | null): Classified | undefined {
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") return ofTls(code, stage);
  if (code.startsWith("HPE_")) return { verdict: "protocol-error", message: `The answer is not valid HTTP (${code})` };
  if (/^ERR_HTTP2_|^NGHTTP2_/.test(code))
    return { verdict: "protocol-error", message: `The HTTP/2 answer is not valid (${code})` };
  if (/^Z_|^ERR__ERROR_|^ERR_BROTLI|^ERR_ZSTD|^ERR_PADDING|^ZSTD_/.test(code)) {
    return { verdict: "protocol-error", message: `The compressed answer cannot be read (${code})` };
  }
  return undefined;
}

/** The names of alerts 110 to 114 are without the word (sslerr.h). */
const ALERT =
  /^ERR_SSL_(?:TLSV1|TLSV13|SSLV3|SSL\/TLS)_(?:ALERT_(.+)|(UNSUPPORTED_EXTENSION|CERTIFICATE_UNOBTAINABLE|UNRECOGNIZED_NAME|BAD_CERTIFICATE_STATUS_RESPONSE|BAD_CERTIFICATE_HASH_VALUE))$/;
const ALERT_REMARKS: ReadonlyMap<string, string> = new Map([
  ["PROTOCOL_VERSION", " (TLS 1.2 and 1.3 were offered)"],
  ["UNRECOGNIZED_NAME", " (it serves no such name)"],
]);

/** OpenSSL's reason codes. An alert is the peer's word; after the handshake other TLS errors are broken records. */
function ofTls(code: string, stage: Phase | null): Classified {
  const [, plain, named] = ALERT.exec(code) ?? [];
  const alert = plain ?? named;
  if (alert !== undefined) {
    return {
      verdict: "handshake-failed",
      message: `The server refused the TLS handshake: ${wordsOf(alert)}${ALERT_REMARKS.get(alert) ?? ""}`,
    };
  }
  if (
    /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|RECORD_TOO_SMALL|HTTP_REQUEST|HTTPS_PROXY_REQUEST)$/.test(
      code,
    )
  ) {
    return { verdict: "handshake-failed", message: "The server does not speak TLS on this port" };
  }
  const reason = code === "EPROTO" ? "protocol error" : wordsOf(code.slice("ERR_SSL_".length));
  return stage === "request" || stage === "transfer"
    ? { verdict: "protocol-error", message: `The TLS connection broke: ${reason}` }
    : { verdict: "handshake-failed", message: `The TLS handshake failed: ${reason}` };
}

function wordsOf(code: string): string {
  return code.toLowerCase().replaceAll("_", " ");
}

/** Adds details of the error to the message: the names in a certificate, or OpenSSL's reason behind a bare EPROTO. */
function withWords(known: Classified, error: Error, code: string | undefined): Classified {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return { ...known, peer: plainText(error.message) };
  if (code === "EPROTO") {
    // `write EPROTO 00AB…:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:…`
    const reason = /:error:[0-9A-F]+:SSL routines:[^:]*:([^:]+)/i.exec(error.message)?.[1];
    if (reason !== undefined) return { ...known, message: `The TLS handshake failed: ${plainText(reason)}` };
  }
  return known;
}

/** Text of any thrown value, also of one that cannot be printed. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value;
}

function causeOf(error: Error): unknown {
  return error.cause instanceof Error ? error.cause : undefined;
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

function addressOf(error: Error): string | undefined {
  return "address" in error && typeof error.address === "string" ? error.address : undefined;
}
