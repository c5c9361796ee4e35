/** Better Stack: answers of its API v2. Monitors, groups, heartbeats and policies may stand in one list. */
import type { Day } from "../../model/document/document.ts";
import { Draft } from "./draft.ts";
import { eachInSteps, ImportError, type Importer, type ImportFile } from "./importer.ts";
import type { MonitorDraft } from "./monitor-draft.ts";
import { railsZone } from "./rails-zones.ts";
import {
  booleanAt,
  type Fields,
  fieldsAt,
  fieldsIn,
  isFields,
  listAt,
  memberOf,
  numberAt,
  numberIn,
  quoted,
  textAt,
  textIn,
} from "./values.ts";
import { headersOf, setRequest } from "./web-request.ts";
import { readJson } from "./yaml.ts";
import { clockOf, minuteOfDay, minutesBetween } from "./zones.ts";

/** Its own standards, seconds. */
const INTERVAL_S = 180;
/** While it confirms a failure it looks again every 30 s. */
const CONFIRMING_S = 30;
const DAYS: readonly Day[] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/** Types whose timeout is in milliseconds. */
const IN_MS: readonly string[] = ["ping", "tcp", "udp", "smtp", "pop", "imap", "dns"];
const MAIL_PORTS: Readonly<Record<string, number>> = { pop: 110, imap: 143 };

export const betterstack: Importer = {
  source: "betterstack",
  title: "Better Stack",
  reads:
    "the JSON of GET /api/v2/monitors, /monitor-groups, /heartbeats, /policies (each page a file, or all in one list)",
  *convert(files, options) {
    const draft = new Draft("betterstack", options);
    const things = files.flatMap(thingsIn);
    const ofType = (type: string) => things.filter((one) => typeOf(one) === type);
    const groups = new Map(ofType("monitor_group").map((one) => [textAt(one, "id") ?? "", attributesOf(one)]));
    yield* eachInSteps(ofType("monitor"), (one) => readMonitor(one, groups, draft));
    for (const one of ofType("heartbeat")) readHeartbeat(one, draft);
    for (const one of ofType("policy"))
      draft.notes.add(
        "lost",
        `policy ${quoted(memberOf(attributesOf(one), "name"))}`,
        "whom its steps tell stands in no answer: make channels and a rule with an escalation",
      );
    sayBesides(things, draft);
    return yield* draft.finish();
  },
};

function thingsIn(file: ImportFile): readonly Fields[] {
  const answer = readJson(file);
  const data = Array.isArray(answer) ? answer : memberOf(fieldsIn(answer), "data");
  const list = isFields(data) ? [data] : data;
  if (!Array.isArray(list))
    throw new ImportError(
      `${file.name}: it has no list "data", as the API's answer has`,
      "save the answer of GET /api/v2/monitors as it comes",
    );
  return list.filter(isFields);
}

const READ_TYPES: readonly string[] = ["monitor", "monitor_group", "heartbeat", "policy"];

/** Some answers leave the type out; what a monitor has nothing else has. */
function typeOf(thing: Fields): string {
  const type = textAt(thing, "type");
  return type ?? (memberOf(attributesOf(thing), "monitor_type") === undefined ? "" : "monitor");
}

function sayBesides(things: readonly Fields[], draft: Draft): void {
  const others = new Set(things.map(typeOf).filter((type) => !READ_TYPES.includes(type)));
  for (const type of [...others].slice(0, 20))
    draft.notes.add("lost", `things of type ${quoted(type)}`, "are left out");
  if (things.some(notifiesPeople))
    draft.notes.add(
      "lost",
      "monitors",
      "whom they told by call, SMS, mail or push stands in no answer: make channels and rules",
    );
}

function notifiesPeople(thing: Fields): boolean {
  const row = attributesOf(thing);
  const isPolicy = textAt(row, "policy_id") !== undefined;
  return isPolicy || ["call", "sms", "email", "push"].some((way) => booleanAt(row, way) === true);
}

function attributesOf(thing: Fields): Fields {
  return fieldsAt(thing, "attributes");
}

type TypeReader = (monitor: MonitorDraft, row: Fields) => void;

const READERS: Readonly<Record<string, TypeReader>> = {
  status: readWebsite,
  expected_status_code: readWebsite,
  keyword: readWebsite,
  keyword_absence: readWebsite,
  ping: (monitor, row) => void monitor.kind("ping").set("host", textAt(row, "url")),
  tcp: readPort,
  smtp: (monitor, row) => {
    readPort(monitor, row);
    monitor.kind("smtp").set("ssl_expiration", 0);
  },
  dns: (monitor, row) => {
    monitor.kind("dns").set("host", textAt(row, "url")).set("domain", textAt(row, "request_body"));
    const keyword = textAt(row, "required_keyword");
    if (keyword !== undefined) monitor.keyword(keyword);
  },
};

function readMonitor(thing: Fields, groups: ReadonlyMap<string, Fields>, draft: Draft): void {
  const row = attributesOf(thing);
  const id = textAt(thing, "id") ?? "0";
  const name = textAt(row, "pronounceable_name") ?? textAt(row, "url") ?? `Monitor ${id}`;
  const path = `monitor ${quoted(id)} (${quoted(name)})`;
  const type = textAt(row, "monitor_type") ?? "status";
  const isMail = Object.hasOwn(MAIL_PORTS, type) && draft.options.asPort === true;
  const reader = memberOf(READERS, type) ?? (isMail ? readPort : undefined);
  if (reader === undefined) {
    const way = Object.hasOwn(MAIL_PORTS, type) ? "; --as-port watches its port" : "";
    draft.notes.add("lost", path, `a check of type ${quoted(type)} is left out${way}`);
    return;
  }
  const group = groups.get(textAt(row, "monitor_group_id") ?? "");
  const monitor = draft.monitor(path, keyOfId(id), name);
  readPace(monitor, row, type);
  reader(monitor, row);
  if (isMail) {
    if (monitor.get("port") === undefined) monitor.set("port", MAIL_PORTS[type]);
    monitor
      .ownTag(`was:${type}`)
      .changed(`a check of ${type} becomes a check of its port: it connects, and asks nothing`);
  }
  monitor.active(!isPaused(row) && (group === undefined || !isPaused(group)));
  const groupName = group === undefined ? undefined : textAt(group, "name");
  if (groupName !== undefined) monitor.tag(groupName);
  if (listAt(row, "regions").length > 0)
    draft.notes.once(
      "info",
      "monitors",
      "their regions are left out: locations of this service are chosen in the document",
    );
  readMaintenance(monitor, row, draft);
}

function keyOfId(id: string): string {
  return `betterstack-${id.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 60)}`;
}

function isPaused(row: Fields): boolean {
  return textAt(row, "paused_at") !== undefined || booleanAt(row, "paused") === true;
}

function readPace(monitor: MonitorDraft, row: Fields, type: string): void {
  monitor.interval(numberAt(row, "check_frequency") ?? INTERVAL_S);
  const timeout = numberAt(row, "request_timeout");
  if (timeout !== undefined) monitor.timeout(IN_MS.includes(type) ? timeout / 1_000 : timeout);
  const confirmation = numberAt(row, "confirmation_period") ?? 0;
  monitor.failures(1 + Math.ceil(Math.max(confirmation, 0) / CONFIRMING_S));
  if ((numberAt(row, "recovery_period") ?? 0) > 0)
    monitor.lostBeside("its recovery period: one success ends an incident");
}

function readPort(monitor: MonitorDraft, row: Fields): void {
  const ports = (textAt(row, "port") ?? "").split(",").map((one) => numberIn(one.trim()));
  monitor.kind("port").set("host", textAt(row, "url")).set("port", ports[0]);
  if (ports.length > 1) monitor.lost(`of the ports ${quoted(memberOf(row, "port"))} the first is watched`);
}

function readWebsite(monitor: MonitorDraft, row: Fields): void {
  const type = memberOf(row, "monitor_type");
  monitor.kind("http").set("url", textAt(row, "url")?.trim());
  const keyword = textAt(row, "required_keyword");
  if (type === "keyword" || type === "keyword_absence") {
    if (keyword === undefined) monitor.lost("it has no keyword");
    else
      monitor
        .kind("keyword")
        .keyword(keyword)
        .set("invert_keyword", type === "keyword_absence" ? true : undefined);
  }
  const codes = listAt(row, "expected_status_codes").flatMap((one) => textIn(one) ?? []);
  if (type === "expected_status_code" && codes.length > 0) monitor.set("accepted_statuscodes", codes.slice(0, 500));
  setRequest(monitor, {
    method: textAt(row, "http_method"),
    headers: headersOf(memberOf(row, "request_headers")),
    body: textAt(row, "request_body"),
  });
  const user = textAt(row, "auth_username");
  if (user !== undefined)
    monitor.set("basic_auth_username", user).set("basic_auth_password", textAt(row, "auth_password"));
  if (booleanAt(row, "verify_ssl") === false) monitor.set("verify_certificate", false);
  if (booleanAt(row, "follow_redirects") === false) monitor.set("max_redirects", 0);
  if (textAt(row, "proxy_host") !== undefined)
    monitor.lost("its proxy: the website is asked directly here, where it may not be reached");
  if (booleanAt(row, "remember_cookies") === true) monitor.lostBeside("cookies that it keeps between redirects");
  const family = textAt(row, "ip_version");
  if (family === "ipv4" || family === "ipv6") monitor.set("ip_version", family);
  monitor.certificateDays(Math.max(numberAt(row, "ssl_expiration") ?? 0, 0));
  const domain = numberAt(row, "domain_expiration") ?? 0;
  if (domain > 0) monitor.domainDays(domain);
}

function readHeartbeat(thing: Fields, draft: Draft): void {
  const row = attributesOf(thing);
  const id = textAt(thing, "id") ?? "0";
  const name = textAt(row, "name") ?? `Heartbeat ${id}`;
  const monitor = draft.monitor(`heartbeat ${quoted(id)} (${quoted(name)})`, `${keyOfId(id)}-heartbeat`, name);
  monitor.kind("push").period(numberAt(row, "period") ?? 0, numberAt(row, "grace") ?? 0);
  monitor.active(!isPaused(row)).changed("its job must call the heartbeat's address here");
}

/** A night that has both its days is one window, which begins on the first. */
function readMaintenance(monitor: MonitorDraft, row: Fields, draft: Draft): void {
  const [from, to] = ["maintenance_from", "maintenance_to"].map((name) => minuteOfDay(textAt(row, name)));
  if (from === undefined || to === undefined || from === to) return;
  const named = listAt(row, "maintenance_days").flatMap(
    (one) => DAYS.find((day) => day === String(one).slice(0, 3).toLowerCase()) ?? [],
  );
  const days = named.length === 0 ? DAYS : [...new Set(named)];
  const nights = days.filter((day) => days.includes(DAYS[(DAYS.indexOf(day) + 1) % DAYS.length] ?? day));
  const starts = to < from && nights.length > 0 ? nights : days;
  const zone = railsZone(textAt(row, "maintenance_timezone") ?? "UTC");
  if (zone.isUnknown)
    draft.notes.add("changed", monitor.path, "the time zone of its maintenance is not known: UTC is taken");
  draft.maintenance(monitor.key, {
    title: `Maintenance of ${monitor.path}`.slice(0, 200),
    select: { keys: [monitor.key] },
    schedule: { type: "weekly", days: starts, from: clockOf(from), minutes: minutesBetween(from, to) },
    timezone: zone.name,
  });
}
