/** Modules of blackbox_exporter, each applied to one target. */
import { parseUrl } from "../../../model/url.ts";
import { goDurationIn } from "../durations.ts";
import type { MonitorDraft } from "../monitor-draft.ts";
import { readCodes } from "../status-codes.ts";
import {
  booleanAt,
  type Fields,
  fieldsAt,
  isFields,
  listAt,
  listIn,
  memberOf,
  quoted,
  rowsAt,
  textAt,
  textIn,
} from "../values.ts";
import { headersOf, setRecordType, setRequest } from "../web-request.ts";

/** A regular expression without any sign of one is a text. */
const PLAIN = /^[^.*+?^${}()|[\]\\]{1,255}$/;
const USUAL_DNS_PORT = 53;

/** Parts of a module that a monitor has not. Those that say nothing are no loss. */
const HTTP_LOST: Readonly<Record<string, string>> = {
  valid_http_versions: "which HTTP versions are valid",
  fail_if_body_json_matches_cel: "a condition in CEL",
  fail_if_body_json_not_matches_cel: "a condition in CEL",
  fail_if_header_matches: "conditions on headers",
  fail_if_header_not_matches: "conditions on headers",
  fail_if_ssl: "that TLS is a failure",
  body_file: "a body in a file",
  bearer_token_file: "a token in a file",
  oauth2: "it logs in by OAuth 2",
  proxy_url: "its proxy: checks go straight to the target",
  proxy_from_environment: "its proxy: checks go straight to the target",
  enable_http3: "that it asks by HTTP/3",
};
const DNS_LOST: Readonly<Record<string, string>> = {
  dns_over_tls: "that it asks over TLS",
  validate_answer_rrs: "conditions on the records",
  validate_authority_rrs: "conditions on the records",
  validate_additional_rrs: "conditions on the records",
};
const ICMP_LOST: Readonly<Record<string, string>> = {
  payload_size: "the size of its packets",
  dont_fragment: "that packets are not cut",
  ttl: "how far its packets may go",
};

/** @param timeoutS of the scrape */
export function applyModule(monitor: MonitorDraft, module: Fields, target: string, timeoutS: number): void {
  monitor.timeout(goDurationIn(memberOf(module, "timeout")) ?? timeoutS).failures(1);
  const prober = textAt(module, "prober") ?? "";
  const reader = memberOf(PROBERS, prober);
  if (reader !== undefined) reader(monitor, fieldsAt(module, prober), target);
  else {
    monitor.kind("ping").set("host", hostOf(target).host);
    monitor.lost(`the prober ${quoted(prober)}: only a ping to the host is kept`);
  }
}

type ProberReader = (monitor: MonitorDraft, settings: Fields, target: string) => void;

const PROBERS: Readonly<Record<string, ProberReader>> = { http: readHttp, tcp: readTcp, icmp: readIcmp, dns: readDns };

function readHttp(monitor: MonitorDraft, http: Fields, target: string): void {
  const url = /^https?:\/\//i.test(target) ? target : `http://${target}`;
  monitor.kind("http").set("url", url).certificateDays(0);
  readCodes(monitor, listAt(http, "valid_status_codes"));
  setRequest(monitor, {
    method: textAt(http, "method"),
    headers: headersOf(memberOf(http, "headers")),
    body: textAt(http, "body"),
  });
  const follows = booleanAt(http, "follow_redirects") ?? booleanAt(http, "no_follow_redirects") !== true;
  if (!follows) monitor.set("max_redirects", 0);
  readBody(monitor, http);
  readLogin(monitor, http);
  readTls(monitor, fieldsAt(http, "tls_config"));
  readFamily(monitor, http);
  if (booleanAt(http, "fail_if_not_ssl") === true && !/^https:/i.test(url)) monitor.lost("that it must be TLS");
  sayLost(monitor, http, HTTP_LOST);
}

/** One expression that must match can be said, and one text that must, or must not, be there. */
function readBody(monitor: MonitorDraft, http: Fields): void {
  const wanted = textsIn(memberOf(http, "fail_if_body_not_matches_regexp"));
  const unwanted = textsIn(memberOf(http, "fail_if_body_matches_regexp"));
  for (const regex of unwanted) {
    if (PLAIN.test(regex) && monitor.type === "http")
      monitor.kind("keyword").keyword(regex).set("invert_keyword", true);
    else monitor.lost(`that ${quoted(regex)} must not match`);
  }
  for (const regex of wanted) {
    if (PLAIN.test(regex) && monitor.type === "http") monitor.kind("keyword").keyword(regex);
    else if (monitor.get("body_regex") === undefined) monitor.set("body_regex", regex);
    else monitor.lost(`that ${quoted(regex)} must match too`);
  }
}

function readLogin(monitor: MonitorDraft, http: Fields): void {
  const basic = memberOf(http, "basic_auth");
  if (isFields(basic)) {
    monitor.set("basic_auth_username", textAt(basic, "username") ?? "");
    monitor.set("basic_auth_password", textAt(basic, "password"));
    if (memberOf(basic, "password_file") !== undefined) monitor.lost("a password in a file");
  }
  const authorization = memberOf(http, "authorization");
  const token = textAt(http, "bearer_token");
  if (token !== undefined) monitor.set("bearer_token", token);
  if (!isFields(authorization)) return;
  const type = textAt(authorization, "type") ?? "Bearer";
  const credentials = textAt(authorization, "credentials");
  if (credentials === undefined) monitor.lost("credentials in a file");
  else if (type.toLowerCase() === "bearer") monitor.set("bearer_token", credentials);
  else monitor.set("headers", { ...headersOf(monitor.get("headers")), Authorization: `${type} ${credentials}` });
}

function readTls(monitor: MonitorDraft, tls: Fields): void {
  if (booleanAt(tls, "insecure_skip_verify") === true) monitor.set("verify_certificate", false);
  monitor.set("client_certificate", textAt(tls, "cert")).set("client_key", textAt(tls, "key"));
  for (const [member, what] of [
    ["cert_file", "a client certificate in a file"],
    ["ca_file", "an authority of its own for the server's certificate"],
    ["ca", "an authority of its own for the server's certificate"],
    ["server_name", "another name than the host's in the certificate"],
  ] as const)
    if (textAt(tls, member) !== undefined) monitor.lost(what);
}

function readTcp(monitor: MonitorDraft, tcp: Fields, target: string): void {
  const { host, port } = hostOf(target);
  monitor.kind("port").set("host", host).set("port", port);
  const turns = rowsAt(tcp, "query_response");
  const starttls = starttlsOf(turns);
  if (booleanAt(tcp, "tls") === true || starttls !== undefined) readTlsPort(monitor, tcp, starttls);
  else if (turns.length > 0) monitor.lost("what is said to the port and expected of it: it only connects");
  readFamily(monitor, tcp);
}

/** What is spoken before TLS, by what the module sends; undefined where it agrees on none. */
function starttlsOf(turns: readonly Fields[]): "smtp" | "imap" | "postgres" | undefined {
  if (!turns.some((turn) => booleanAt(turn, "starttls") === true)) return undefined;
  if (turns.some((turn) => memberOf(turn, "send") instanceof Uint8Array)) return "postgres";
  return turns.some((turn) => /^(?:EHLO|HELO)/i.test(textAt(turn, "send") ?? "")) ? "smtp" : "imap";
}

function readTlsPort(monitor: MonitorDraft, tcp: Fields, starttls: string | undefined): void {
  const tls = fieldsAt(tcp, "tls_config");
  monitor.kind("tls").set("ssl_expiration", 0).set("starttls", starttls);
  monitor.set("servername", textAt(tls, "server_name"));
  if (starttls !== undefined) monitor.changed(`what is said before TLS is that of ${starttls}`);
  else if (listAt(tcp, "query_response").length > 0) monitor.lost("what is said within TLS and expected of it");
  if (booleanAt(tls, "insecure_skip_verify") === true)
    monitor.lost("that any certificate is taken: a TLS check looks at it");
  if (textAt(tls, "ca_file") !== undefined || textAt(tls, "cert_file") !== undefined)
    monitor.lost("certificates in files");
}

function readIcmp(monitor: MonitorDraft, icmp: Fields, target: string): void {
  monitor.kind("ping").set("host", hostOf(target).host);
  readFamily(monitor, icmp);
  sayLost(monitor, icmp, ICMP_LOST);
}

function readDns(monitor: MonitorDraft, dns: Fields, target: string): void {
  const { host, port } = hostOf(target);
  monitor
    .kind("dns")
    .set("host", host)
    .set("port", port ?? USUAL_DNS_PORT);
  monitor.set("domain", textAt(dns, "query_name"));
  setRecordType(monitor, textAt(dns, "query_type") ?? "ANY");
  if (textAt(dns, "transport_protocol") === "tcp") monitor.changed("it is asked by UDP first");
  const codes = textsIn(memberOf(dns, "valid_rcodes"));
  if (codes.some((code) => code !== "NOERROR")) monitor.lost(`the answers ${quoted(codes.join(", "))} that are valid`);
  sayLost(monitor, dns, DNS_LOST);
}

/** The exporter prefers IPv6 and falls back by default. */
function readFamily(monitor: MonitorDraft, settings: Fields): void {
  if (booleanAt(settings, "ip_protocol_fallback") !== false) return;
  const wanted = textAt(settings, "preferred_ip_protocol") ?? "ip6";
  monitor.set("ip_version", wanted === "ip4" ? "ipv4" : "ipv6");
}

function sayLost(monitor: MonitorDraft, settings: Fields, names: Readonly<Record<string, string>>): void {
  const lost = Object.keys(names).filter((name) => {
    const value = memberOf(settings, name);
    const isEmpty = Array.isArray(value) ? value.length === 0 : isFields(value) && Object.keys(value).length === 0;
    return value !== undefined && value !== null && value !== false && value !== "" && value !== 0 && !isEmpty;
  });
  for (const what of new Set(lost.map((name) => names[name] ?? ""))) monitor.lost(what);
}

function textsIn(value: unknown): readonly string[] {
  return listIn(value).flatMap((one) => textIn(one) ?? []);
}

/** `host`, `host:port`, `[address]:port`, or an address of the web. */
function hostOf(target: string): { readonly host: string; readonly port: number | undefined } {
  const authority = /^[a-z][a-z0-9+.-]{0,30}:\/\/([^/?#]*)/i.exec(target)?.[1] ?? target;
  const [, bracketed, name, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(authority) ?? [];
  const host = bracketed ?? name;
  if (host === undefined) return { host: authority, port: undefined };
  return { host, port: port === undefined ? undefined : Number(port) };
}

/** For the name of a monitor. */
export function shortTarget(target: string): string {
  const url = parseUrl(target);
  return url === undefined || url.host === "" ? target : `${url.host}${url.pathname === "/" ? "" : url.pathname}`;
}
