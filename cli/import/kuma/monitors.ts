/** Monitors of Uptime Kuma: what each of its types is here. */
import type { Draft } from "../draft.ts";
import { eachInSteps } from "../importer.ts";
import type { MonitorDraft } from "../monitor-draft.ts";
import { booleanAt, type Fields, fieldsIn, listIn, memberOf, numberAt, quoted, textAt } from "../values.ts";
import { setRecordType } from "../web-request.ts";
import { portOf } from "./ports.ts";
import type { ReadingMonitor } from "./reading.ts";
import { warningDays } from "./settings.ts";
import { idIn, jsonMember, type KumaTables, rowsOf } from "./tables.ts";
import { readWebsite } from "./websites.ts";

/** Groups above a monitor that are looked at; Kuma nests a few. */
const MOST_LEVELS = 50;
/** Kuma's own standards. */
const INTERVAL_S = 60;
const PACKET_BYTES = 56;
const TOKEN = /^[A-Za-z0-9]{10,64}$/;

/** Monitors that came over, and what stands for a group: its monitors. */
export interface KumaMonitors {
  readonly byId: ReadonlyMap<number, MonitorDraft>;
  /** Keys of a monitor, or of all monitors within a group. */
  keysOf(id: number): readonly string[];
  nameOf(id: number): string | undefined;
  isGroup(id: number): boolean;
}

export function* readMonitors(tables: KumaTables, draft: Draft): Generator<void, KumaMonitors> {
  const rows = new Map<number, Fields>();
  for (const row of rowsOf(tables, "monitor")) {
    const id = idIn(memberOf(row, "id"));
    if (id === undefined) draft.notes.add("lost", "monitor", "it has no id and is left out");
    else rows.set(id, row);
  }
  const tags = tagsByMonitor(tables);
  const proxies = activeProxies(tables);
  const days = warningDays(tables);
  const byId = new Map<number, MonitorDraft>();
  yield* eachInSteps(rows, ([id, row]) => {
    const monitor = memberOf(row, "type") === "group" ? undefined : readMonitor(id, row, { draft, days, proxies });
    if (monitor === undefined) return;
    byId.set(id, monitor);
    const groups = groupsAbove(row, rows);
    monitor.active([row, ...groups].every((one) => booleanAt(one, "active") ?? true));
    for (const path of pathsOf(groups)) monitor.tag(path);
    for (const tag of tags.get(id) ?? []) monitor.tag(tag);
  });
  const children = childrenOf(rows);
  return {
    byId,
    keysOf: (id) => [...within(id, children)].flatMap((one) => byId.get(one)?.key ?? []),
    nameOf: (id) => textAt(rows.get(id) ?? {}, "name"),
    isGroup: (id) => memberOf(rows.get(id) ?? {}, "type") === "group",
  };
}

type TypeReader = (monitor: MonitorDraft, row: Fields, reading: ReadingMonitor) => void;

const READERS: Readonly<Record<string, TypeReader>> = {
  http: readWebsite,
  keyword: readWebsite,
  "json-query": readWebsite,
  ping: readPing,
  port: readPort,
  dns: readDns,
  push: readPush,
  smtp: readMail,
};

/** @returns undefined for what cannot be watched here, which is noted */
function readMonitor(id: number, row: Fields, reading: ReadingMonitor): MonitorDraft | undefined {
  const { draft } = reading;
  const name = textAt(row, "name") ?? `Monitor ${id}`;
  const path = `monitor ${id} (${quoted(name)})`;
  const type = textAt(row, "type") ?? "";
  const reader = memberOf(READERS, type);
  const port = reader === undefined && draft.options.asPort === true ? portOf(type, row) : undefined;
  if (reader === undefined && port === undefined) {
    const way = draft.options.asPort !== true && portOf(type, row) !== undefined ? "; --as-port watches its port" : "";
    draft.notes.add("lost", path, `a check of type ${quoted(type)} is left out${way}`);
    return undefined;
  }
  const monitor = draft.monitor(path, `kuma-${id}`, name);
  if (port !== undefined) {
    monitor.kind("port").set("host", port.host).set("port", port.port).ownTag(`was:${type}`);
    monitor.changed(`a check of type ${quoted(type)} becomes a check of its port: it connects, and asks nothing`);
  }
  if (type !== "push") readPace(monitor, row);
  reader?.(monitor, row, reading);
  if (textAt(row, "description") !== undefined) monitor.info("its description is left out");
  return monitor;
}

/** Interval, retries, time: of every type that asks something. */
function readPace(monitor: MonitorDraft, row: Fields): void {
  const interval = numberAt(row, "interval") ?? INTERVAL_S;
  monitor.interval(interval);
  const timeout = numberAt(row, "timeout") ?? 0;
  monitor.timeout(timeout > 0 ? timeout : interval * 0.8);
  // Kuma counts tries after the first, a monitor here failures.
  const retries = numberAt(row, "maxretries") ?? 0;
  monitor.failures(Math.max(retries, 0) + 1);
}

function readUpsideDown(monitor: MonitorDraft, row: Fields): void {
  if (booleanAt(row, "upside_down") === true) monitor.lost("upside down mode: only website checks have it");
}

function readPing(monitor: MonitorDraft, row: Fields): void {
  monitor.kind("ping").set("host", textAt(row, "hostname")?.trim());
  const size = numberAt(row, "packet_size") ?? PACKET_BYTES;
  if (size !== PACKET_BYTES) monitor.lost(`packets of ${size} bytes: ours have one size`);
  readUpsideDown(monitor, row);
}

function readPort(monitor: MonitorDraft, row: Fields, { days }: ReadingMonitor): void {
  const [host, port] = [textAt(row, "hostname")?.trim(), numberAt(row, "port")];
  monitor.kind("port").set("host", host).set("port", port);
  const alert = textAt(row, "expected_tls_alert") ?? "none";
  if (alert !== "none") monitor.lost(`the TLS alert ${quoted(alert)} that is expected`);
  const security = textAt(row, "smtp_security");
  if ((security === "secure" || security === "starttls") && booleanAt(row, "expiry_notification") === true) {
    monitor.kind("tls").set("starttls", security === "starttls" ? "smtp" : undefined);
    monitor.certificateDays(days.certificate);
    monitor.changed(
      "a port whose certificate is watched becomes a TLS check: it is down too when the certificate is not valid",
    );
  }
  readUpsideDown(monitor, row);
}

function readMail(monitor: MonitorDraft, row: Fields): void {
  const security = textAt(row, "smtp_security");
  const ways: Readonly<Record<string, string>> = { secure: "tls", nostarttls: "none", starttls: "starttls" };
  const way = security !== undefined && Object.hasOwn(ways, security) ? ways[security] : "auto";
  monitor.kind("smtp").set("host", textAt(row, "hostname")?.trim()).set("security", way);
  monitor.set("port", numberAt(row, "port"));
  if (way !== "none") monitor.set("ssl_expiration", 0);
  readUpsideDown(monitor, row);
}

function readDns(monitor: MonitorDraft, row: Fields): void {
  const servers = (textAt(row, "dns_resolve_server") ?? "").split(",").map((one) => one.trim());
  const [server, ...others] = servers.filter((one) => one !== "");
  monitor.kind("dns").set("domain", textAt(row, "hostname")?.trim()).set("host", server);
  if (server === undefined) monitor.changed("no resolver is named: 1.1.1.1 is asked");
  if (others.length > 0) monitor.changed(`of several resolvers the first is asked, ${quoted(server)}`);
  monitor.set("port", numberAt(row, "port"));
  const type = (textAt(row, "dns_resolve_type") ?? "A").toUpperCase();
  setRecordType(monitor, type);
  readConditions(monitor, row, type);
  readUpsideDown(monitor, row);
}

/** Types whose records Kuma compares as they are written; of others it compares one field alone. */
const WHOLE_RECORDS: readonly string[] = ["A", "AAAA", "PTR", "TXT", "CNAME", "NS"];

/** One condition on the record can be said; Kuma's form lets people write trees of them. */
function readConditions(monitor: MonitorDraft, row: Fields, type: string): void {
  const conditions = listIn(jsonMember(row, "conditions"));
  if (conditions.length === 0) return;
  const one = fieldsIn(conditions.length === 1 ? conditions[0] : undefined);
  const [operator, value] = [memberOf(one, "operator"), textAt(one, "value")];
  const isOnRecord = memberOf(one, "variable") === "record" && value !== undefined;
  if (isOnRecord && operator === "equals" && WHOLE_RECORDS.includes(type)) monitor.set("expected", [value]);
  else if (isOnRecord && operator === "contains") monitor.keyword(value);
  else monitor.lost(`its conditions on the records: ${quoted(conditions)}`);
}

function readPush(monitor: MonitorDraft, row: Fields): void {
  const interval = numberAt(row, "interval") ?? INTERVAL_S;
  const retries = numberAt(row, "maxretries") ?? 0;
  monitor.kind("push").period(interval, (numberAt(row, "retry_interval") ?? 0) * retries);
  const token = textAt(row, "push_token");
  if (token !== undefined && TOKEN.test(token)) monitor.set("token", token);
  else monitor.lostBeside("its token is not 10 to 64 letters or digits: the job must call the new address");
  readUpsideDown(monitor, row);
}

function tagsByMonitor(tables: KumaTables): ReadonlyMap<number, readonly string[]> {
  const names = new Map<number, string>();
  for (const row of rowsOf(tables, "tag")) {
    const [id, name] = [idIn(memberOf(row, "id")), textAt(row, "name")];
    if (id !== undefined && name !== undefined) names.set(id, name);
  }
  const tags = new Map<number, string[]>();
  for (const row of rowsOf(tables, "monitor_tag")) {
    const [id, tagId] = [idIn(memberOf(row, "monitor_id")), idIn(memberOf(row, "tag_id"))];
    const name = tagId === undefined ? undefined : names.get(tagId);
    if (id === undefined || name === undefined) continue;
    const value = textAt(row, "value");
    const list = tags.get(id);
    const tag = value === undefined ? name : `${name}:${value}`;
    if (list === undefined) tags.set(id, [tag]);
    else list.push(tag);
  }
  return tags;
}

function activeProxies(tables: KumaTables): ReadonlySet<number> {
  const active = rowsOf(tables, "proxy").filter((row) => booleanAt(row, "active") ?? true);
  return new Set(active.flatMap((row) => idIn(memberOf(row, "id")) ?? []));
}

/** From the nearest to the outermost. */
function groupsAbove(row: Fields, rows: ReadonlyMap<number, Fields>): readonly Fields[] {
  const groups: Fields[] = [];
  let parent = idIn(memberOf(row, "parent"));
  while (parent !== undefined && groups.length < MOST_LEVELS) {
    const group = rows.get(parent);
    if (group === undefined || groups.includes(group)) break;
    groups.push(group);
    parent = idIn(memberOf(group, "parent"));
  }
  return groups;
}

/** `europe`, `europe/web`: a tag for each group above. */
function pathsOf(groups: readonly Fields[]): readonly string[] {
  const names = groups.map((group) => textAt(group, "name") ?? "").reverse();
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

function childrenOf(rows: ReadonlyMap<number, Fields>): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  for (const [id, row] of rows) {
    const parent = idIn(memberOf(row, "parent"));
    if (parent === undefined) continue;
    const list = children.get(parent);
    if (list === undefined) children.set(parent, [id]);
    else list.push(id);
  }
  return children;
}

/** The monitor and whatever is below it. */
function within(id: number, children: ReadonlyMap<number, readonly number[]>): ReadonlySet<number> {
  const found = new Set([id]);
  for (const one of found) for (const child of children.get(one) ?? []) found.add(child);
  return found;
}
