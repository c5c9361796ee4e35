/**
 * What a share link's failed attempt means: the core's own words count first, then what was seen through its port. Servers of these protocols drop
 * most wrong credentials without an answer, so only how a connection ended, and how often, distinguishes that from a server without a network. Pure.
 */
import type { Engine } from "../../model/subscription.ts";
import type { Verdict } from "../../model/verdict.ts";
import type { Finding } from "../cores/finding.ts";
import type { ProxyConfig } from "../protocols/share-link/proxy-config.ts";

/** What came of one verify endpoint. */
export type Seen =
  | { readonly kind: "no-path"; readonly code: number | null }
  | { readonly kind: "closed"; readonly heard: boolean; readonly afterMs: number }
  /** @member isComplaint it could not read what we sent */
  | { readonly kind: "other"; readonly words: string; readonly isComplaint: boolean }
  /** Nothing until the time was over. */
  | { readonly kind: "silent"; readonly isOpen: boolean };

export interface Attempt {
  readonly config: ProxyConfig;
  readonly engine: Engine;
  readonly seen: readonly Seen[];
  readonly findings: readonly Finding[];
  /** Our own TCP dial reached the server. */
  readonly isDialled: boolean;
}

export interface Judgement {
  readonly verdict: Exclude<Verdict, "ok">;
  readonly message: string;
  /** Nothing that the other core could see differently. */
  readonly isFinal: boolean;
  readonly peerAnswered: boolean;
  /** The way to the server stands, so that an endpoint that does not work at all would look the same. */
  readonly dependsOnEndpoint: boolean;
  /** By the core's own words, not by how connections ended. */
  readonly isTold: boolean;
}

type Sight = Omit<Judgement, "isTold">;

/** Of several things that a core said, the one that explains the others. */
const TELLING: readonly Verdict[] = [
  "misconfigured",
  "auth-failed",
  "cert-invalid",
  "stuck",
  "handshake-failed",
  "refused",
  "unresolved",
  "unreachable",
  "timeout",
  "closed",
];
/** What another core cannot see differently. */
const FINAL: ReadonlySet<Verdict> = new Set(["auth-failed", "cert-invalid", "refused", "unresolved", "unreachable"]);

export function judgeAttempt(attempt: Attempt): Judgement {
  const told = byWords(attempt);
  return told === undefined ? { ...bySight(attempt), isTold: false } : { ...told, isTold: true };
}

/** Whether the second core's judgement takes the place of the first one's: it names a cause, where the other only saw that connections end. */
export function tellsMore(first: Judgement, second: Judgement): boolean {
  return second.isTold && !first.isTold;
}

function byWords({ findings, config, isDialled }: Attempt): Sight | undefined {
  const reported = TELLING.map((verdict) => findings.find((finding) => finding.verdict === verdict)).find(
    (finding) => finding !== undefined,
  );
  if (reported === undefined || reported.verdict === null || reported.verdict === "ok") return undefined;
  // These are read better from how the connection looked: the core only says that it broke.
  if (reported.verdict === "closed" || reported.verdict === "timeout") return undefined;
  // The decoy's certificate: what REALITY shows to clients that it does not take.
  const isDecoy = config.security.kind === "reality" && reported.verdict === "cert-invalid";
  const verdict = isDecoy ? "auth-failed" : reported.verdict;
  const reason = isDecoy ? "REALITY refused the key, short id or name" : reported.reason;
  // Newer servers of REALITY refuse one core's hello and take the other's.
  const isFinal = FINAL.has(verdict) && config.security.kind !== "reality";
  return {
    verdict,
    message: sentence(verdict, reason),
    isFinal,
    peerAnswered: isDialled || verdict === "auth-failed",
    dependsOnEndpoint: verdict === "stuck",
  };
}

function sentence(verdict: Verdict, reason: string): string {
  const first = reason.charAt(0).toUpperCase() + reason.slice(1);
  return verdict === "stuck" ? `The tunnel is up, but leads nowhere: ${reason}` : first;
}

function bySight(attempt: Attempt): Sight {
  const { seen, config, isDialled } = attempt;
  const others = seen.filter((one) => one.kind === "other");
  // What answers a request was sent one; over TLS a portal cannot read us either.
  const other = others.find(({ isComplaint }) => !isComplaint) ?? others[0];
  if (other !== undefined) return ofOther(config, other);
  const refusal = seen.find((one) => one.kind === "no-path");
  if (refusal !== undefined) return ofRefusal(refusal.code, isDialled);
  const closed = seen.filter((one) => one.kind === "closed");
  if (closed.length === seen.length && closed.length > 0)
    return ofClosed(
      attempt,
      closed.some(({ heard }) => heard),
    );
  if (isUp(attempt)) {
    return {
      verdict: "stuck",
      message: `The server was reached, but nothing comes back through the tunnel${clockHint(config)}`,
      isFinal: false,
      peerAnswered: true,
      dependsOnEndpoint: true,
    };
  }
  return {
    verdict: "timeout",
    message: isDialled
      ? `The server took the connection and did not answer in time${clockHint(config)}${carrierHint(attempt)}`
      : "The server did not answer in time",
    isFinal: false,
    peerAnswered: isDialled,
    dependsOnEndpoint: false,
  };
}

/**
 * Trojan has no reply: what a server shows to unknown clients arrives as if the target had sent it. Its decoy gets our password where a web
 * server expects a request, and says that it cannot read that; a captive portal behind the server gets the request itself.
 */
function ofOther({ account }: ProxyConfig, { words, isComplaint }: Extract<Seen, { kind: "other" }>): Sight {
  if (account.protocol === "trojan" && isComplaint) {
    return {
      verdict: "auth-failed",
      message: `The server does not know the password: a decoy answered (${words})`,
      isFinal: true,
      peerAnswered: true,
      dependsOnEndpoint: true,
    };
  }
  return {
    verdict: "stuck",
    message: `Something else answers than what is asked through the tunnel: ${words}`,
    isFinal: true,
    peerAnswered: true,
    dependsOnEndpoint: true,
  };
}

function ofRefusal(code: number | null, isDialled: boolean): Sight {
  // RFC 1928 section 6.
  if (code === 5)
    return {
      verdict: "refused",
      message: "The server's port is closed",
      isFinal: true,
      peerAnswered: false,
      dependsOnEndpoint: false,
    };
  if (code === 3 || code === 4) {
    return {
      verdict: "unreachable",
      message: "There is no way to the server",
      isFinal: true,
      peerAnswered: false,
      dependsOnEndpoint: false,
    };
  }
  return {
    verdict: isDialled ? "handshake-failed" : "timeout",
    message: isDialled ? "The server did not accept the connection's handshake" : "The server did not answer in time",
    isFinal: false,
    peerAnswered: isDialled,
    dependsOnEndpoint: false,
  };
}

/** Every question ended at once without a byte: the way in which servers turn away clients that they do not know. */
function ofClosed(attempt: Attempt, heard: boolean): Sight {
  const { isDialled, config, engine } = attempt;
  if (heard) {
    return {
      verdict: "stuck",
      message: "The tunnel is up, but ends before an answer is whole",
      isFinal: false,
      peerAnswered: true,
      dependsOnEndpoint: true,
    };
  }
  // The session begins with the credential: sing-box opens nothing before the server took it, and xray says when it goes on.
  if (config.account.protocol === "hysteria2" && (engine === "singbox" || isUp(attempt))) {
    return {
      verdict: "stuck",
      message: "The server took the credential, and ends every connection through it at once",
      isFinal: false,
      peerAnswered: true,
      dependsOnEndpoint: true,
    };
  }
  if (!isDialled && config.account.protocol !== "tuic" && config.account.protocol !== "hysteria2") {
    return {
      verdict: "closed",
      message: "The server closed the connection",
      isFinal: false,
      peerAnswered: false,
      dependsOnEndpoint: false,
    };
  }
  // xray opens its port's path before it dials; it says when the carrier stands.
  if (engine === "xray" && isDialled && !isUp(attempt)) return ofRefusal(null, isDialled);
  return {
    verdict: "auth-failed",
    message: `The server closes every connection at once, as it does with credentials that it does not know${clockHint(config)}`,
    isFinal: false,
    peerAnswered: true,
    dependsOnEndpoint: true,
  };
}

/** Servers of these turn away what another clock has stamped exactly as they do with a wrong key (SIP022 section 3.1.3; VMess' AuthID). */
function clockHint({ account }: ProxyConfig): string {
  if (account.protocol === "vmess") return " (also where one of the two clocks is off by more than 2 min)";
  const isTimed = account.protocol === "shadowsocks" && account.method.startsWith("2022-");
  return isTimed ? " (also where one of the two clocks is off by more than 30 s)" : "";
}

/** sing-box tries grpc again and again where a server does not speak it, and says nothing of that. */
function carrierHint({ engine, config: { transport } }: Attempt): string {
  return engine === "singbox" && transport.type === "grpc" ? " (also where it does not speak grpc)" : "";
}

/** Whether the way to the server stands. sing-box opens its port's path when it does; xray says so in its log, or has nothing to set up. */
function isUp({ engine, seen, findings, config, isDialled }: Attempt): boolean {
  if (engine === "singbox") return seen.some((one) => one.kind === "silent" && one.isOpen) && !isLazy(config);
  const isBare = config.transport.type === "raw" && config.security.kind === "none" && isDialled;
  return isBare || findings.some(({ isReached }) => isReached === true);
}

/** Its path is said to be open before anything was dialled. */
function isLazy({ transport }: ProxyConfig): boolean {
  return transport.type === "ws" && transport.earlyDataBytes > 0;
}
