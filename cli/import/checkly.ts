/** Checkly: answers of its API v1: checks, check groups, maintenance windows. */
import type { Day, MaintenanceSchedule } from "../../model/document/document.ts";
import { Draft } from "./draft.ts";
import { eachInSteps, ImportError, type Importer, type ImportFile } from "./importer.ts";
import { keyOf } from "./keys.ts";
import { type MonitorDraft, tagOf } from "./monitor-draft.ts";
import {
  booleanAt,
  booleanIn,
  type Fields,
  fieldsAt,
  fieldsIn,
  isFields,
  listAt,
  memberOf,
  numberAt,
  numberIn,
  quoted,
  rowsAt,
  textAt,
  textIn,
} from "./values.ts";
import { type Comparison, WebAssertions } from "./web-assertions.ts";
import { headersOf, setRecordType, setRequest } from "./web-request.ts";
import { readJson } from "./yaml.ts";

/** Its own standards, minutes. */
const FREQUENCY = 10;
const COMPARISONS: Readonly<Record<string, Comparison>> = {
  EQUALS: "==",
  NOT_EQUALS: "!=",
  GREATER_THAN: ">",
  LESS_THAN: "<",
  CONTAINS: "contains",
  NOT_CONTAINS: "excludes",
};
const UNITS_S: Readonly<Record<string, number>> = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 };
const DAYS: readonly Day[] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const MINUTE_MS = 60_000;

export const checkly: Importer = {
  source: "checkly",
  title: "Checkly",
  reads: "the JSON of GET /v1/checks, /v1/check-groups, /v1/maintenance-windows (each a file)",
  *convert(files, options) {
    const draft = new Draft("checkly", options);
    const things = files.flatMap(thingsIn);
    const groups = new Map(things.filter(isGroup).map((one) => [textAt(one, "id") ?? "", textAt(one, "name") ?? ""]));
    const checks = things.filter((one) => textAt(one, "checkType") !== undefined);
    yield* eachInSteps(checks, (one) => readCheck(one, groups, draft));
    for (const one of things) if (textAt(one, "startsAt") !== undefined) readWindow(one, draft);
    return yield* draft.finish();
  },
};

function thingsIn(file: ImportFile): readonly Fields[] {
  const answer = readJson(file);
  const list = Array.isArray(answer) ? answer : memberOf(fieldsIn(answer), "entries");
  if (!Array.isArray(list))
    throw new ImportError(
      `${file.name}: it is no list of checks, groups or maintenance windows, as the API's answers are`,
      "save the answer of GET /v1/checks as it comes",
    );
  return list.filter(isFields);
}

function isGroup(thing: Fields): boolean {
  return memberOf(thing, "checkType") === undefined && memberOf(thing, "startsAt") === undefined;
}

type TypeReader = (monitor: MonitorDraft, row: Fields) => void;

const READERS: Readonly<Record<string, TypeReader>> = {
  API: readWebsite,
  URL: readWebsite,
  TCP: (monitor, row) => {
    const request = fieldsAt(row, "request");
    monitor.kind("port").set("host", textAt(request, "hostname")).set("port", numberAt(request, "port"));
    for (const one of rowsAt(request, "assertions")) monitor.lost(`the assertion ${quoted(one)}`);
  },
  ICMP: (monitor, row) => {
    monitor.kind("ping").set("host", textAt(fieldsAt(row, "request"), "hostname"));
  },
  DNS: readDns,
  HEARTBEAT: readHeartbeat,
};

function readCheck(row: Fields, groups: ReadonlyMap<string, string>, draft: Draft): void {
  const id = textAt(row, "id") ?? "0";
  const name = textAt(row, "name") ?? `Check ${id}`;
  const path = `check ${quoted(name)}`;
  const type = textAt(row, "checkType") ?? "";
  const reader = memberOf(READERS, type);
  if (reader === undefined) {
    draft.notes.add("lost", path, `a check of type ${quoted(type)} is left out`);
    return;
  }
  const monitor = draft.monitor(path, keyOf("checkly", id), name);
  monitor.active(booleanAt(row, "activated") ?? true);
  if (type !== "HEARTBEAT") {
    const frequency = numberAt(row, "frequency") ?? FREQUENCY;
    monitor.interval(frequency > 0 ? frequency * 60 : (numberAt(row, "frequencyOffset") ?? 30));
    monitor.failures(booleanAt(row, "doubleCheck") === true || isFields(memberOf(row, "retryStrategy")) ? 2 : 1);
  }
  reader(monitor, row);
  for (const tag of listAt(row, "tags")) monitor.tag(textIn(tag) ?? "");
  if (booleanAt(row, "muted") === true)
    monitor.tag("muted").changed("it was muted: make a rule without channels for the tag muted");
  const group = textAt(row, "groupId");
  if (group !== undefined) monitor.tag(groups.get(group) || `group:${group}`);
  if (listAt(row, "locations").length > 0)
    draft.notes.once(
      "info",
      "checks",
      "their locations are left out: locations of this service are chosen in the document",
    );
}

function readWebsite(monitor: MonitorDraft, row: Fields): void {
  const request = fieldsAt(row, "request");
  const url = withQuery(textAt(request, "url")?.trim(), memberOf(request, "queryParameters"));
  monitor.kind("http").set("url", url).certificateDays(0);
  if (url?.includes("{{") === true) monitor.lost("variables of Checkly in its address");
  const body = textAt(request, "body");
  const bodyType = memberOf(request, "bodyType");
  setRequest(monitor, {
    method: textAt(request, "method"),
    headers: headersOf(memberOf(request, "headers"), "key"),
    body,
    bodyType:
      bodyType === "FORM" ? "application/x-www-form-urlencoded" : bodyType === "JSON" ? "application/json" : undefined,
  });
  const login = fieldsAt(request, "basicAuth");
  const user = textAt(login, "username");
  if (user !== undefined)
    monitor.set("basic_auth_username", user).set("basic_auth_password", textAt(login, "password"));
  if (booleanAt(request, "followRedirects") === false) monitor.set("max_redirects", 0);
  // Of API checks, and of URL monitors.
  const skips = memberOf(request, "skipSSL") ?? memberOf(request, "skipSsl");
  if (booleanIn(skips) === true) monitor.set("verify_certificate", false);
  if (memberOf(request, "ipFamily") === "IPv6") monitor.set("ip_version", "ipv6");
  if (textAt(row, "localSetupScript") !== undefined || textAt(row, "localTearDownScript") !== undefined)
    monitor.lost("its scripts");
  readAssertions(monitor, row, request);
}

/** What Checkly keeps beside the address and sends in it. */
function withQuery(url: string | undefined, parameters: unknown): string | undefined {
  const query = new URLSearchParams(headersOf(parameters, "key")).toString();
  return url === undefined || query === "" ? url : `${url}${url.includes("?") ? "&" : "?"}${query}`;
}

function readAssertions(monitor: MonitorDraft, row: Fields, request: Fields): void {
  const assertions = new WebAssertions(monitor);
  const degraded = numberAt(row, "degradedResponseTime");
  if (degraded !== undefined) assertions.responseTime("<", degraded, "degraded");
  const longest = numberAt(row, "maxResponseTime");
  if (longest !== undefined) monitor.timeout(Math.ceil(longest / 1_000));
  for (const one of rowsAt(request, "assertions")) {
    const word = textAt(one, "comparison") ?? "";
    const comparison = memberOf(COMPARISONS, word);
    const [source, target] = [memberOf(one, "source"), memberOf(one, "target")];
    const isSaid =
      comparison !== undefined &&
      ((source === "STATUS_CODE" && assertions.status(comparison, target)) ||
        (source === "TEXT_BODY" && assertions.text(comparison, textIn(target))) ||
        (source === "RESPONSE_TIME" && assertions.responseTime(comparison, target, "down")) ||
        (source === "JSON_BODY" && addQuery(monitor, one, comparison)));
    if (!isSaid) monitor.lost(`the assertion ${quoted(one)}`);
  }
  // An answer of 400 or above fails a check, or is what it should be.
  assertions.finish(booleanAt(row, "shouldFail") === true ? ["400-599"] : ["100-399"]);
}

/** A path of names and numbers as JSONata; other paths of JSONPath have no twin. */
function addQuery(monitor: MonitorDraft, assertion: Fields, comparison: Comparison): boolean {
  const property = textAt(assertion, "property") ?? "$";
  const target = textAt(assertion, "target") ?? "";
  if (!/^\$(?:\.[A-Za-z_]\w{0,99}|\[\d{1,6}\]){0,30}$/.test(property)) return false;
  const number = numberIn(target);
  const conditions: Readonly<Record<Comparison, string | undefined>> = {
    "==": `$string(${property}) = ${JSON.stringify(target)}`,
    "!=": `$string(${property}) != ${JSON.stringify(target)}`,
    contains: `$contains($string(${property}), ${JSON.stringify(target)})`,
    excludes: `$not($contains($string(${property}), ${JSON.stringify(target)}))`,
    ">": number === undefined ? undefined : `$number(${property}) > ${number}`,
    "<": number === undefined ? undefined : `$number(${property}) < ${number}`,
    ">=": undefined,
    "<=": undefined,
  };
  const condition = conditions[comparison];
  const before = monitor.get("json_query");
  if (condition === undefined) return false;
  monitor.set("json_query", typeof before === "string" ? `${before} and ${condition}` : condition);
  return true;
}

function readDns(monitor: MonitorDraft, row: Fields): void {
  const request = fieldsAt(row, "request");
  const server = textAt(request, "nameServer") ?? textAt(fieldsAt(request, "nameServer"), "host");
  monitor.kind("dns").set("domain", textAt(request, "query")).set("host", server);
  setRecordType(monitor, textAt(request, "recordType") ?? "A");
  for (const one of rowsAt(request, "assertions")) monitor.lost(`the assertion ${quoted(one)}`);
}

function readHeartbeat(monitor: MonitorDraft, row: Fields): void {
  const heartbeat = fieldsAt(row, "heartbeat");
  const seconds = (amount: string, unit: string) =>
    (numberAt(heartbeat, amount) ?? 0) * (UNITS_S[textAt(heartbeat, unit) ?? "seconds"] ?? 1);
  monitor.kind("push").period(seconds("period", "periodUnit"), seconds("grace", "graceUnit"));
  monitor.changed("its job must call the heartbeat's address here");
}

function readWindow(row: Fields, draft: Draft): void {
  const name = textAt(row, "name") ?? "Maintenance";
  const path = `maintenance ${quoted(name)}`;
  const [starts, ends] = ["startsAt", "endsAt"].map((member) => Date.parse(textAt(row, member) ?? ""));
  if (starts === undefined || ends === undefined || !(ends > starts)) {
    draft.notes.add("lost", path, "its times cannot be read");
    return;
  }
  const schedule = scheduleOf(row, starts, ends);
  if (schedule === undefined) {
    draft.notes.add(
      "lost",
      path,
      `that it repeats every ${quoted(memberOf(row, "repeatInterval"))} ${quoted(memberOf(row, "repeatUnit"))}`,
    );
    return;
  }
  const tags = [...new Set(listAt(row, "tags").map((one) => tagOf(textIn(one) ?? "")))].filter((tag) => tag !== "");
  const select = tags.length > 0 ? { any_tag: tags.slice(0, 100) } : { keys: draft.monitors.map(({ key }) => key) };
  const ends_on = textAt(row, "repeatEndsAt")?.slice(0, 10);
  draft.maintenance(keyOf("checkly", textAt(row, "id") ?? name), {
    title: name.slice(0, 200),
    select,
    schedule,
    timezone: "UTC",
    ...(schedule.type !== "once" && { starts_on: new Date(starts).toISOString().slice(0, 10) }),
    ...(schedule.type !== "once" && ends_on !== undefined && /^\d{4}-\d\d-\d\d$/.test(ends_on) && { ends_on }),
  });
}

/** In UTC, as its times are. */
function scheduleOf(row: Fields, startsMs: number, endsMs: number): MaintenanceSchedule | undefined {
  const unit = (textAt(row, "repeatUnit") ?? "").toUpperCase();
  const every = numberAt(row, "repeatInterval") ?? 1;
  const start = new Date(startsMs);
  const from = start.toISOString().slice(11, 16);
  const minutes = Math.max(1, Math.round((endsMs - startsMs) / MINUTE_MS));
  if (unit === "" || unit === "NEVER")
    return { type: "once", starts_at: start.toISOString(), ends_at: new Date(endsMs).toISOString() };
  if (every !== 1) return undefined;
  if (unit === "DAY") return { type: "weekly", days: ["mon-sun"], from, minutes };
  if (unit === "WEEK") return { type: "weekly", days: [DAYS[start.getUTCDay()] ?? "mon"], from, minutes };
  if (unit !== "MONTH") return undefined;
  return { type: "cron", cron: `${start.getUTCMinutes()} ${start.getUTCHours()} ${start.getUTCDate()} * *`, minutes };
}
