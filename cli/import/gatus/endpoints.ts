/** Endpoints of Gatus as monitors: the scheme of the address says what is checked. */
import type { Draft } from "../draft.ts";
import { goDurationIn } from "../durations.ts";
import type { MonitorDraft } from "../monitor-draft.ts";
import {
  booleanAt,
  type Fields,
  fieldsAt,
  fieldsIn,
  listAt,
  memberOf,
  numberIn,
  quoted,
  textAt,
  textIn,
} from "../values.ts";
import { headersOf, setRecordType, setRequest } from "../web-request.ts";
import { type Condition, conditionIn } from "./condition.ts";
import { ConditionReader, conditionsText } from "./conditions.ts";

/** Gatus' own standards. */
const INTERVAL_S = 60;
const TIMEOUT_S = 10;
/** Of what runs over TCP; undefined: there is none. */
const USUAL_PORTS: Readonly<Record<string, number | undefined>> = {
  ws: 80,
  wss: 443,
  ssh: 22,
  grpc: undefined,
  grpcs: undefined,
};
/** A job that Gatus waits for without an end. */
const LONGEST_PERIOD_S = 604_800;
/** Parts of `client` that a request here has not. */
const CLIENT_LOST: Readonly<Record<string, string>> = {
  "proxy-url": "its proxy: checks go straight to the target",
  "dns-resolver": "a name server of its own",
  oauth2: "it logs in by OAuth 2",
  "identity-aware-proxy": "it logs in by Google's Identity-Aware Proxy",
  tls: "a client certificate in files of Gatus' machine: client_certificate and client_key take their texts",
  tunnel: "the SSH tunnel that it goes through",
  "store-cookies": "cookies that it keeps",
};

export interface GatusMonitor {
  readonly monitor: MonitorDraft;
  readonly row: Fields;
  readonly group: string;
  readonly intervalS: number;
}

/** As Gatus makes its keys, so that they stay when the file is sorted anew. */
function keyOf(group: string, name: string): string {
  const clean = (text: string) =>
    text
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}-]/gu, "-");
  const key = [group, name]
    .filter((one) => one !== "")
    .map(clean)
    .join("_")
    .slice(0, 240);
  return /^[\p{L}\p{N}_]/u.test(key) ? key : `_${key}`;
}

function begin(row: Fields, draft: Draft, what: string): { readonly monitor: MonitorDraft; readonly group: string } {
  const name = textAt(row, "name") ?? "unnamed";
  const group = textAt(row, "group") ?? "";
  const monitor = draft.monitor(
    `${what} ${quoted(group === "" ? name : `${group}/${name}`)}`,
    keyOf(group, name),
    name,
  );
  monitor.active(booleanAt(row, "enabled") ?? true);
  if (group !== "") monitor.tag(group);
  for (const [label, value] of Object.entries(fieldsAt(row, "extra-labels"))) {
    const text = textIn(value);
    if (text !== undefined) monitor.tag(`${label}:${text}`);
  }
  return { monitor, group };
}

export function readEndpoint(row: Fields, draft: Draft): GatusMonitor {
  const { monitor, group } = begin(row, draft, "endpoint");
  const intervalS = goDurationIn(memberOf(row, "interval")) ?? INTERVAL_S;
  if (memberOf(row, "interval") !== undefined && goDurationIn(memberOf(row, "interval")) === undefined)
    monitor.changed(`its interval ${quoted(memberOf(row, "interval"))} cannot be read: ${INTERVAL_S} s are taken`);
  const client = fieldsAt(row, "client");
  monitor.interval(Math.max(intervalS, 1)).timeout(goDurationIn(memberOf(client, "timeout")) ?? TIMEOUT_S);
  const conditions = conditionsOf(row, monitor);
  const reader = new ConditionReader(monitor);
  readTarget(monitor, row, { draft, reader, conditions });
  readClient(monitor, client);
  sayRest(monitor, reader.rest, draft);
  return { monitor, row, group, intervalS };
}

function conditionsOf(row: Fields, monitor: MonitorDraft): readonly Condition[] {
  return listAt(row, "conditions").flatMap((one) => {
    const condition = conditionIn(textIn(one) ?? "");
    if (condition === undefined) monitor.lost(`the condition ${quoted(one)} cannot be read`);
    return condition ?? [];
  });
}

/** Such a check would watch less than it did. */
function sayRest(monitor: MonitorDraft, rest: readonly Condition[], draft: Draft): void {
  if (rest.length === 0) return;
  const message = `conditions that cannot be said: ${conditionsText(rest)}`;
  if (draft.options.dropExtra === true) monitor.lostBeside(message);
  else monitor.lost(message);
}

interface Reading {
  readonly draft: Draft;
  readonly reader: ConditionReader;
  readonly conditions: readonly Condition[];
}

function readTarget(monitor: MonitorDraft, row: Fields, reading: Reading): void {
  const { reader, conditions } = reading;
  const url = (textAt(row, "url") ?? "").trim();
  const dns = memberOf(row, "dns");
  const [, scheme = "", rest = ""] = /^([a-z]{2,10}):\/\/(.*)$/s.exec(url) ?? [];
  if (dns !== undefined && dns !== null) {
    readDns(monitor, url, fieldsIn(dns));
    reader.read(conditions, "dns");
  } else if (scheme === "http" || scheme === "https") {
    monitor.kind("http").set("url", url);
    readRequest(monitor, row);
    reader.read(conditions, "website");
    if (scheme === "https" && monitor.get("ssl_expiration") === undefined) monitor.set("ssl_expiration", 0);
  } else if (scheme === "icmp") {
    monitor.kind("ping").set("host", withoutBrackets(rest));
    reader.read(conditions, "connection");
  } else {
    readPort(monitor, scheme, rest, reading);
  }
}

/** Schemes whose address has a port. */
function readPort(monitor: MonitorDraft, scheme: string, rest: string, { draft, reader, conditions }: Reading): void {
  const { host, port } = placeOf(rest);
  monitor.kind("port").set("host", host).set("port", port);
  if (scheme === "tls" || scheme === "starttls") {
    monitor.kind("tls").set("starttls", scheme === "starttls" ? "smtp" : undefined);
    reader.read(conditions, "tls");
    if (monitor.get("ssl_expiration") === undefined) monitor.set("ssl_expiration", 0);
    return;
  }
  if (scheme === "tcp") {
    reader.read(conditions, "connection");
    return;
  }
  if (port === undefined && Object.hasOwn(USUAL_PORTS, scheme)) monitor.set("port", USUAL_PORTS[scheme]);
  if (Object.hasOwn(USUAL_PORTS, scheme) && draft.options.asPort === true)
    monitor.ownTag(`was:${scheme}`).changed(`${scheme}:// becomes a check of its port: it connects, and asks nothing`);
  else monitor.lost(`${scheme === "" ? "its address" : `${scheme}://`}: only its TCP port is kept`);
}

function readDns(monitor: MonitorDraft, url: string, dns: Fields): void {
  const { host, port } = placeOf(url);
  monitor.kind("dns").set("host", host).set("port", port).set("domain", textAt(dns, "query-name"));
  setRecordType(monitor, textAt(dns, "query-type"));
}

function readRequest(monitor: MonitorDraft, row: Fields): void {
  const body = textAt(row, "body");
  const isGraphql = booleanAt(row, "graphql") === true;
  setRequest(monitor, {
    method: textAt(row, "method"),
    headers: headersOf(memberOf(row, "headers")),
    body: isGraphql ? JSON.stringify({ query: body ?? "" }) : body,
    bodyType: isGraphql ? "application/json" : undefined,
  });
}

function readClient(monitor: MonitorDraft, client: Fields): void {
  const isWebsite = monitor.type === "http" || monitor.type === "keyword";
  if (booleanAt(client, "insecure") === true && isWebsite) monitor.set("verify_certificate", false);
  else if (booleanAt(client, "insecure") === true && monitor.type === "tls")
    monitor.lost("that any certificate is taken: a TLS check looks at it");
  if (booleanAt(client, "ignore-redirect") === true && isWebsite) monitor.set("max_redirects", 0);
  const network = textAt(client, "network");
  const family = { ip4: "ipv4", ip6: "ipv6" }[network ?? ""];
  if (family !== undefined && monitor.type === "ping") monitor.set("ip_version", family);
  else if (network !== undefined && network !== "ip") monitor.lost(`that only ${quoted(network)} is used`);
  for (const [member, message] of Object.entries(CLIENT_LOST)) {
    const value = memberOf(client, member);
    if (value !== undefined && value !== null && value !== false && value !== "") monitor.lost(message);
  }
}

export function readExternal(row: Fields, draft: Draft): GatusMonitor {
  const { monitor, group } = begin(row, draft, "external endpoint");
  const intervalS = goDurationIn(memberOf(fieldsAt(row, "heartbeat"), "interval")) ?? 0;
  monitor.kind("push").period(intervalS > 0 ? intervalS : LONGEST_PERIOD_S, 0);
  if (!(intervalS > 0))
    monitor.changed("Gatus does not look when the job called last: here it is down after a week without a call");
  monitor.changed("its job must call the heartbeat's address here: Gatus' call has another form");
  return { monitor, row, group, intervalS: Math.max(intervalS, INTERVAL_S) };
}

/** `host:port`, with brackets around an IPv6 address; a path is left out. */
function placeOf(text: string): { readonly host: string | undefined; readonly port: number | undefined } {
  const authority = /^([^/?#]{0,300})/.exec(text)?.[1] ?? "";
  const [, bracketed, name, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(authority) ?? [];
  if (bracketed === undefined && name === undefined) return { host: authority, port: undefined };
  return { host: bracketed ?? name, port: numberIn(port) };
}

function withoutBrackets(text: string): string {
  return placeOf(text).host ?? text;
}
