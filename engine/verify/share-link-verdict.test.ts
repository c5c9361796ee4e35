import { describe, expect, it } from "vitest";
import type { Finding } from "../cores/finding.ts";
import { LINKS } from "../protocols/share-link/links.suite.ts";
import { parseProxyLink } from "../protocols/share-link/proxy-link.ts";
import { type Attempt, judgeAttempt, type Seen, tellsMore } from "./share-link-verdict.ts";

const SILENT: Seen = { kind: "silent", isOpen: true };
const SHUT: Seen = { kind: "silent", isOpen: false };
const CLOSED: Seen = { kind: "closed", heard: false, afterMs: 5 };
const CUT: Seen = { kind: "closed", heard: true, afterMs: 5 };
const COMPLAINT: Seen = { kind: "other", words: "status 400", isComplaint: true };
const OTHER: Seen = { kind: "other", words: "status 302", isComplaint: false };
const REACHED: Finding = { session: "1", tag: "n", verdict: null, reason: "", isReached: true };
const told = (verdict: Finding["verdict"], reason = "so it says"): Finding => ({
  session: "1",
  tag: "n",
  verdict,
  reason,
});

function attempt(link: string, seen: readonly Seen[], more: Partial<Attempt> = {}): Attempt {
  const config = parseProxyLink(LINKS.get(link) ?? "").config;
  const isDialled = config.account.protocol !== "tuic" && config.account.protocol !== "hysteria2";
  return { config, engine: "singbox", seen, findings: [], isDialled, ...more };
}

describe("a failed attempt", () => {
  it.each<[what: string, Attempt, verdict: string]>([
    [
      "REALITY's decoy shows its own certificate",
      attempt("vless tcp reality", [CLOSED], { findings: [told("cert-invalid")] }),
      "auth-failed",
    ],
    [
      "a certificate that is not valid",
      attempt("vless tcp tls", [CLOSED], { findings: [told("cert-invalid")] }),
      "cert-invalid",
    ],
    [
      "of two things said, the telling one",
      attempt("vless tcp tls", [CLOSED], { findings: [told("closed"), told("auth-failed")] }),
      "auth-failed",
    ],
    ["a decoy behind trojan that cannot read the password", attempt("trojan tcp tls", [COMPLAINT]), "auth-failed"],
    ["a captive portal behind trojan", attempt("trojan tcp tls", [OTHER]), "stuck"],
    ["a captive portal that knows no TLS", attempt("trojan tcp tls", [COMPLAINT, OTHER]), "stuck"],
    ["another server's page behind vless", attempt("vless tcp tls", [OTHER]), "stuck"],
    ["every question ends at once", attempt("vless tcp tls", [CLOSED, CLOSED]), "auth-failed"],
    ["one question ends, one is silent", attempt("vless tcp tls", [CLOSED, SILENT]), "stuck"],
    ["hysteria2's session stands, and every question ends at once", attempt("hysteria2", [CLOSED, CLOSED]), "stuck"],
    [
      "hysteria2's server ends xray's at once, of which xray says nothing",
      attempt("hysteria2", [CLOSED, CLOSED], { engine: "xray" }),
      "auth-failed",
    ],
    [
      "xray has reached hysteria2's server, and every question ends at once",
      attempt("hysteria2", [CLOSED, CLOSED], { engine: "xray", findings: [REACHED] }),
      "stuck",
    ],
    [
      "hysteria2's server refuses the credential",
      attempt("hysteria2", [CLOSED, CLOSED], { findings: [told("auth-failed")] }),
      "auth-failed",
    ],
    ["tuic's session ends at once", attempt("tuic", [CLOSED, CLOSED]), "auth-failed"],
    ["answers end before they are whole", attempt("vless tcp tls", [CUT, CUT]), "stuck"],
    ["the path stands in sing-box, and nothing comes", attempt("vless tcp tls", [SILENT]), "stuck"],
    ["the path does not stand in sing-box", attempt("vless tcp tls", [SHUT]), "timeout"],
    ["sing-box says that a lazy path stands", attempt("vless ws tls", [SILENT]), "timeout"],
    [
      "xray has reached the server",
      attempt("vless tcp tls", [SILENT], { engine: "xray", findings: [REACHED] }),
      "stuck",
    ],
    ["xray has not", attempt("vless tcp tls", [SILENT], { engine: "xray" }), "timeout"],
    ["xray has nothing to set up beyond the connection", attempt("ss 2022", [SILENT], { engine: "xray" }), "stuck"],
    ["nothing of a QUIC server", attempt("hysteria2", [SHUT]), "timeout"],
    ["the core's port refuses, code 5", attempt("vless tcp tls", [{ kind: "no-path", code: 5 }]), "refused"],
    ["the core's port refuses, code 4", attempt("vless tcp tls", [{ kind: "no-path", code: 4 }]), "unreachable"],
    ["the core's port refuses, code 1", attempt("vless tcp tls", [{ kind: "no-path", code: 1 }]), "handshake-failed"],
  ])("%s", (_, seen, verdict) => {
    expect(judgeAttempt(seen).verdict).toBe(verdict);
  });

  it("splits a time-out by whether the server had taken the connection", () => {
    expect(judgeAttempt(attempt("vless tcp tls", [SHUT])).peerAnswered).toBe(true);
    expect(judgeAttempt(attempt("tuic", [SHUT])).peerAnswered).toBe(false);
  });

  it("names the clock where a server turns away what another clock has stamped", () => {
    const silent = (link: string): string => judgeAttempt(attempt(link, [SHUT])).message;
    const closed = (link: string): string => judgeAttempt(attempt(link, [CLOSED])).message;
    for (const say of [silent, closed]) {
      expect(say("vmess json old")).toMatch(/ \(also where one of the two clocks is off by more than 2 min\)$/);
      expect(say("ss 2022")).toMatch(/ \(also where one of the two clocks is off by more than 30 s\)$/);
      expect(say("vless tcp tls")).not.toContain("clock");
      expect(say("ss aead")).not.toContain("clock");
    }
  });

  it("names the carrier where sing-box waits for grpc in silence", () => {
    const shut = (more: Partial<Attempt>): string => judgeAttempt(attempt("vless grpc tls", [SHUT], more)).message;
    expect(shut({})).toMatch(/did not answer in time \(also where it does not speak grpc\)$/);
    expect(shut({ engine: "xray" })).not.toContain("grpc");
  });

  it("gives way to the other core's words when it was only seen", () => {
    const seen = judgeAttempt(attempt("vless tcp tls", [CLOSED, CLOSED]));
    const words = judgeAttempt(attempt("vless tcp tls", [CLOSED], { findings: [told("misconfigured")] }));
    const mute = judgeAttempt(attempt("vless tcp tls", [CLOSED], { findings: [told("closed")] }));
    expect([tellsMore(seen, words), tellsMore(words, seen), tellsMore(words, words), tellsMore(seen, mute)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it("is final only where the other core could not see it differently", () => {
    const final = (one: Attempt): boolean => judgeAttempt(one).isFinal;
    expect(final(attempt("vless tcp tls", [CLOSED], { findings: [told("cert-invalid")] }))).toBe(true);
    expect(final(attempt("vless tcp reality", [CLOSED], { findings: [told("auth-failed")] }))).toBe(false);
    expect(final(attempt("vless tcp tls", [CLOSED]))).toBe(false);
  });
});
