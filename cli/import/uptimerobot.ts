/** UptimeRobot: the answer of its API v3 (GET /monitors) or v2 (POST /getMonitors), or the table that its page exports. */
import { readCsv } from "./csv.ts";
import { Draft } from "./draft.ts";
import { eachInSteps, ImportError, type Importer, type ImportFile } from "./importer.ts";
import type { MonitorDraft } from "./monitor-draft.ts";
import { readCodes } from "./status-codes.ts";
import { fromV2, isOfV2 } from "./uptimerobot-v2.ts";
import {
  booleanAt,
  type Fields,
  fieldsAt,
  fieldsIn,
  isFields,
  listAt,
  listIn,
  memberOf,
  numberAt,
  numberIn,
  quoted,
  textAt,
  textIn,
} from "./values.ts";
import { headersOf, setRequest } from "./web-request.ts";
import { readJson } from "./yaml.ts";

/** Its own standards, seconds. */
const INTERVAL_S = 300;
const GRACE_S = 60;
/** It looks again from other places before it says that something is down: as two failures in a row. */
const FAILURES = 2;
const DOMAIN_DAYS = 30;

export const uptimerobot: Importer = {
  source: "uptimerobot",
  title: "UptimeRobot",
  reads:
    "the JSON of GET /v3/monitors or POST /v2/getMonitors (several pages are several files), or the CSV of its page",
  *convert(files, options) {
    const draft = new Draft("uptimerobot", options);
    const pages = files.map(pageIn);
    const rows = pages.flatMap((page) => page.rows);
    sayMissing(pages, rows.length, draft);
    yield* eachInSteps(rows, (row, index) => readMonitor(row, index, draft));
    if (rows.some((row) => listAt(row, "assignedAlertContacts").length > 0))
      draft.notes.add(
        "lost",
        "alert contacts",
        "whom monitors told: the answer has only numbers of contacts; make channels and rules",
      );
    if (rows.some((row) => WINDOWS.some((name) => listAt(row, name).length > 0)))
      draft.notes.add("lost", "maintenance windows", "the answer has only their numbers: make a maintenance of each");
    return yield* draft.finish();
  },
};

const WINDOWS = ["maintenanceWindows", "maintenanceWindowsIds", "maintenanceWindowIds"] as const;

interface Page {
  readonly rows: readonly Fields[];
  /** Of all pages; 0: it does not say. */
  readonly total: number;
  readonly hasNext: boolean;
}

function pageIn(file: ImportFile): Page {
  const start = file.text.trimStart().charAt(0);
  if (start !== "{" && start !== "[") return { rows: rowsOfTable(file), total: 0, hasNext: false };
  const read = readJson(file);
  const answer = fieldsIn(read);
  const list = Array.isArray(read) ? read : (memberOf(answer, "data") ?? memberOf(answer, "monitors"));
  if (!Array.isArray(list))
    throw new ImportError(
      `${file.name}: it has no list "data" or "monitors", as the answers of the API have`,
      "save the answer of GET /v3/monitors as it comes",
    );
  const rows = list.filter(isFields).map((row) => (isOfV2(row) ? fromV2(row) : row));
  const total = numberAt(fieldsAt(answer, "pagination"), "total") ?? 0;
  return { rows, total, hasNext: textAt(answer, "nextLink") !== undefined };
}

/** An answer has 50 monitors or so, and those of the next one must not be missed. */
function sayMissing(pages: readonly Page[], count: number, draft: Draft): void {
  const total = Math.max(0, ...pages.map((page) => page.total));
  const isCut = pages.length > 0 && pages.every(({ hasNext }) => hasNext);
  if (total > count)
    draft.notes.add(
      "lost",
      "pages",
      `of ${total} monitors ${count} are here: ask for the other pages, and name them, too`,
    );
  else if (isCut)
    draft.notes.add("lost", "pages", "the last answer has a nextLink: ask for the next page, and name it, too");
}

/** Columns in the names of the API. */
const COLUMNS: Readonly<Record<string, string>> = {
  id: "id",
  type: "type",
  status: "status",
  "friendly name": "friendlyName",
  "url/ip": "url",
  url: "url",
  "keyword type": "keywordType",
  "keyword value": "keywordValue",
  port: "port",
  interval: "interval",
};

function rowsOfTable(file: ImportFile): readonly Fields[] {
  const rows = readCsv(file.text);
  const isTable = rows.some((row) => Object.hasOwn(row, "friendly name"));
  if (!isTable)
    throw new ImportError(
      `${file.name}: line 1 has no column "Friendly Name", as UptimeRobot's table has`,
      "export the table again, or save the answer of GET /v3/monitors",
    );
  return rows.map((row) => {
    const cells = Object.entries(row).flatMap(([name, value]) => {
      const field = memberOf(COLUMNS, name);
      return field === undefined || value === "" ? [] : [[field, value] as const];
    });
    return Object.fromEntries(cells);
  });
}

type TypeReader = (monitor: MonitorDraft, row: Fields) => void;

/** By the API's word, and by the table's. */
const READERS: Readonly<Record<string, TypeReader>> = {
  HTTP: readWebsite,
  "HTTP(S)": readWebsite,
  KEYWORD: readKeyword,
  PING: (monitor, row) => void monitor.kind("ping").set("host", hostIn(row)),
  PORT: (monitor, row) => void monitor.kind("port").set("host", hostIn(row)).set("port", numberAt(row, "port")),
  HEARTBEAT: readHeartbeat,
  DNS: readDns,
};

function readMonitor(row: Fields, index: number, draft: Draft): void {
  const id = textAt(row, "id") ?? String(index + 1);
  const name = textAt(row, "friendlyName") ?? textAt(row, "url") ?? `Monitor ${id}`;
  const path = `monitor ${quoted(id)} (${quoted(name)})`;
  const type = (textAt(row, "type") ?? "").toUpperCase();
  const reader = memberOf(READERS, type);
  if (reader === undefined) {
    draft.notes.add("lost", path, `a check of type ${quoted(type)} is left out`);
    return;
  }
  const monitor = draft.monitor(path, `uptimerobot-${id.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 60)}`, name);
  monitor.active((textAt(row, "status") ?? "").toUpperCase() !== "PAUSED");
  if (type !== "HEARTBEAT") {
    monitor.interval(numberAt(row, "interval") ?? INTERVAL_S).failures(FAILURES);
    monitor.timeout(numberAt(row, "timeout"));
  }
  reader(monitor, row);
  for (const tag of listAt(row, "tags")) {
    const text = textIn(isFields(tag) ? memberOf(tag, "name") : tag);
    if (text !== undefined) monitor.tag(text);
  }
  if (listAt(row, "regionalData").length > 0 || isFields(memberOf(row, "regionalData")))
    monitor.info("from which region it was checked: locations of this service are chosen in the document");
}

function hostIn(row: Fields): string | undefined {
  const text = textAt(row, "url")?.trim();
  return text?.replace(/^[a-z]{2,10}:\/\//i, "").replace(/[/?#].*$/s, "");
}

function readWebsite(monitor: MonitorDraft, row: Fields): void {
  monitor.kind("http").set("url", webAddress(row));
  const config = fieldsAt(row, "config");
  const body = memberOf(row, "postValueData");
  const isKeyValue = memberOf(row, "postValueType") === "KEY_VALUE";
  setRequest(monitor, {
    method: textAt(row, "httpMethodType"),
    headers: headersOf(memberOf(row, "customHttpHeaders")),
    body: isFields(body) ? bodyText(body, isKeyValue) : textIn(body),
    bodyType: isKeyValue ? "application/x-www-form-urlencoded" : undefined,
  });
  const codes = listAt(row, "successHttpResponseCodes").flatMap((one) => (textIn(one) ?? "").split(","));
  readCodes(
    monitor,
    codes.map((code) => rangeOf(code.trim())),
  );
  readLogin(monitor, row);
  if (booleanAt(row, "followRedirections") === false) monitor.set("max_redirects", 0);
  if (booleanAt(row, "checkSSLErrors") === false) monitor.set("verify_certificate", false);
  const days = listAt(config, "sslExpirationPeriodDays").flatMap((one) => numberIn(one) ?? []);
  const warns = booleanAt(row, "sslExpirationReminder") === true || days.length > 0;
  monitor.certificateDays(warns ? Math.max(...(days.length > 0 ? days.slice(0, 100) : [DOMAIN_DAYS])) : 0);
  if (booleanAt(row, "domainExpirationReminder") === true) monitor.domainDays(DOMAIN_DAYS);
  const threshold = numberAt(row, "responseTimeThreshold") ?? 0;
  if (threshold > 0) monitor.set("max_response_time", Math.min(Math.round(threshold), 120_000));
  const family = { ipv4Only: "ipv4", ipv6Only: "ipv6" }[textAt(config, "ipVersion") ?? ""];
  monitor.set("ip_version", family);
}

function webAddress(row: Fields): string | undefined {
  const text = textAt(row, "url")?.trim();
  return text === undefined || /^https?:\/\//i.test(text) ? text : `http://${text}`;
}

function bodyText(body: Fields, isKeyValue: boolean): string {
  if (Object.keys(body).length === 0) return "";
  if (!isKeyValue) return JSON.stringify(body);
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(body)) pairs.append(name, textIn(value) ?? "");
  return pairs.toString();
}

/** `2xx` is all of a hundred. */
function rangeOf(code: string): string {
  const [, hundred] = /^([1-5])xx$/i.exec(code) ?? [];
  return hundred === undefined ? code : `${hundred}00-${hundred}99`;
}

function readLogin(monitor: MonitorDraft, row: Fields): void {
  const way = (textAt(row, "authType") ?? "NONE").toUpperCase();
  const [user, password] = [textAt(row, "httpUsername"), textAt(row, "httpPassword")];
  // Its API says HTTP_BASIC of monitors that were made without a login, too.
  if (way === "HTTP_BASIC" && user === undefined && password === undefined) return;
  if (way === "HTTP_BASIC" && user !== undefined)
    monitor.set("basic_auth_username", user).set("basic_auth_password", password);
  else if (way === "BEARER" && password !== undefined) monitor.set("bearer_token", password);
  else if (way !== "NONE") monitor.lost(`it logs in by ${quoted(way)}, or its password is not in the answer`);
}

function readKeyword(monitor: MonitorDraft, row: Fields): void {
  readWebsite(monitor, row);
  const keyword = textAt(row, "keywordValue");
  if (keyword === undefined) {
    monitor.lost("it has no keyword");
    return;
  }
  monitor.kind("keyword").keyword(keyword);
  const type = (textAt(row, "keywordType") ?? "ALERT_NOT_EXISTS").toUpperCase();
  if (type === "ALERT_EXISTS" || type === "EXISTS") monitor.set("invert_keyword", true);
  const cases = memberOf(row, "keywordCaseType");
  if (cases === 1 || cases === "CaseInsensitive")
    monitor.changed("its keyword is looked for in upper and lower case as it is written");
}

function readHeartbeat(monitor: MonitorDraft, row: Fields): void {
  const interval = numberAt(row, "interval") ?? INTERVAL_S;
  monitor.kind("push").period(interval, numberAt(row, "gracePeriod") ?? GRACE_S);
  monitor.changed("its job must call the heartbeat's address here");
}

function readDns(monitor: MonitorDraft, row: Fields): void {
  monitor.kind("dns").set("domain", hostIn(row));
  const records = Object.entries(fieldsAt(fieldsAt(row, "config"), "dnsRecords")).filter(
    ([, values]) => listIn(values).length > 0,
  );
  const [first, ...others] = records;
  if (first === undefined) return;
  monitor.set("record_type", first[0].toUpperCase());
  monitor.set(
    "expected",
    listIn(first[1]).flatMap((one) => textIn(one) ?? []),
  );
  if (others.length > 0) monitor.lost(`records of a second type: ${quoted(others.map(([type]) => type).join(", "))}`);
}
