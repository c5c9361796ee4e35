/** OpenStatus: openstatus.yaml of its command line, a map by logical id or a list below `monitors`. */
import { Draft } from "./draft.ts";
import { durationIn } from "./durations.ts";
import { eachInSteps, ImportError, type Importer, type ImportFile } from "./importer.ts";
import { keyOf } from "./keys.ts";
import type { MonitorDraft } from "./monitor-draft.ts";
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
  rowsAt,
  textAt,
  textIn,
} from "./values.ts";
import { type Comparison, WebAssertions } from "./web-assertions.ts";
import { headersOf, setRecordType, setRequest } from "./web-request.ts";
import { readYaml } from "./yaml.ts";

/** Its own standards. */
const INTERVAL_S = 600;
const RETRIES = 3;
const TIMEOUT_MS = 45_000;
const COMPARISONS: Readonly<Record<string, Comparison>> = {
  eq: "==",
  not_eq: "!=",
  gt: ">",
  gte: ">=",
  lt: "<",
  lte: "<=",
  contains: "contains",
  not_contains: "excludes",
};

export const openstatus: Importer = {
  source: "openstatus",
  title: "OpenStatus",
  reads: "openstatus.yaml",
  *convert(files, options) {
    const draft = new Draft("openstatus", options);
    yield* eachInSteps(files.flatMap(monitorsIn), ([key, row]) => readMonitor(key, row, draft));
    return yield* draft.finish();
  },
};

function monitorsIn(file: ImportFile): readonly (readonly [key: string, row: Fields])[] {
  const config = readYaml(file);
  const list = memberOf(fieldsIn(config), "monitors");
  if (Array.isArray(list)) {
    return list.filter(isFields).map((row, index) => [textAt(row, "name") ?? `monitor-${index + 1}`, row] as const);
  }
  const monitors = Object.entries(fieldsIn(isFields(list) ? list : config)).filter((one): one is [string, Fields] =>
    isMonitor(one[1]),
  );
  if (monitors.length === 0)
    throw new ImportError(
      `${file.name}: it has no monitors: entries with kind and request`,
      "name the openstatus.yaml that the command line of OpenStatus reads",
    );
  return monitors;
}

function isMonitor(value: unknown): boolean {
  return isFields(value) && (isFields(memberOf(value, "request")) || textAt(value, "kind") !== undefined);
}

function readMonitor(key: string, row: Fields, draft: Draft): void {
  const name = textAt(row, "name") ?? key;
  const path = `monitor ${quoted(key)}`;
  const kind = textAt(row, "kind") ?? "http";
  const reader = memberOf(READERS, kind);
  if (reader === undefined) {
    draft.notes.add("lost", path, `a check of kind ${quoted(kind)} is left out`);
    return;
  }
  const monitor = draft.monitor(path, keyOf(key), name);
  monitor.active(booleanAt(row, "active") ?? true);
  monitor.interval(durationIn(memberOf(row, "frequency")) ?? INTERVAL_S);
  monitor.failures((numberAt(row, "retry") ?? RETRIES) + 1);
  monitor.timeout((numberAt(row, "timeout") ?? TIMEOUT_MS) / 1_000);
  reader(monitor, fieldsAt(row, "request"), row);
  if (listAt(row, "regions").length > 0)
    draft.notes.once(
      "info",
      "monitors",
      "their regions are left out: locations of this service are chosen in the document",
    );
  if (Object.keys(fieldsAt(row, "openTelemetry")).length > 0) monitor.lostBeside("the export to OpenTelemetry");
  if (booleanAt(row, "public") === true) monitor.info("it was public: a status page here names what it shows");
}

type KindReader = (monitor: MonitorDraft, request: Fields, row: Fields) => void;

const READERS: Readonly<Record<string, KindReader>> = { http: readHttp, tcp: readTcp, icmp: readIcmp, dns: readDns };

function readHttp(monitor: MonitorDraft, request: Fields, row: Fields): void {
  monitor.kind("http").set("url", textAt(request, "url")?.trim()).certificateDays(0);
  setRequest(monitor, {
    method: textAt(request, "method"),
    headers: headersOf(memberOf(request, "headers")),
    body: textAt(request, "body"),
  });
  if (booleanAt(request, "followRedirects") === false) monitor.set("max_redirects", 0);
  const assertions = new WebAssertions(monitor);
  const degraded = numberAt(row, "degradedAfter") ?? 0;
  if (degraded > 0) assertions.responseTime("<", degraded, "degraded");
  for (const one of rowsAt(row, "assertions")) {
    const compare = textAt(one, "compare") ?? "";
    const comparison = memberOf(COMPARISONS, compare);
    const kind = memberOf(one, "kind");
    const target = memberOf(one, "target");
    const isSaid =
      comparison !== undefined &&
      ((kind === "statusCode" && assertions.status(comparison, target)) ||
        (kind === "textBody" && assertions.text(comparison, textIn(target))));
    if (!isSaid) monitor.lost(`the assertion ${quoted(one)}`);
  }
  assertions.finish(undefined);
}

function readTcp(monitor: MonitorDraft, request: Fields): void {
  const [, host, port] = /^(?:tcp:\/\/)?\[?(.*?)\]?:(\d{1,5})$/.exec(textAt(request, "url") ?? "") ?? [];
  monitor.kind("port").set("host", textAt(request, "host") ?? host);
  monitor.set("port", numberAt(request, "port") ?? numberIn(port));
}

function readIcmp(monitor: MonitorDraft, request: Fields): void {
  monitor.kind("ping").set("host", textAt(request, "host"));
}

function readDns(monitor: MonitorDraft, request: Fields, row: Fields): void {
  monitor.kind("dns").set("domain", textAt(request, "host") ?? textAt(request, "uri"));
  const records = rowsAt(row, "assertions");
  const [first, ...others] = records;
  if (first === undefined) return;
  setRecordType(monitor, textAt(first, "key"));
  const [target, compare] = [textAt(first, "target"), memberOf(first, "compare")];
  if (compare === "eq" && target !== undefined) monitor.set("expected", [target]);
  else if (compare === "contains" && target !== undefined) monitor.keyword(target);
  else monitor.lost(`the assertion ${quoted(first)}`);
  if (others.length > 0) monitor.lost("further assertions on its records");
}
