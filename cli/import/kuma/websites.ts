/** Kuma's http, keyword and json-query: one request, and what is asked of its answer. */
import type { MonitorDraft } from "../monitor-draft.ts";
import { readCodes } from "../status-codes.ts";
import { booleanAt, type Fields, isFields, jsonIn, memberOf, numberAt, numberIn, quoted, textAt } from "../values.ts";
import { headersOf, setRedirects, setRequest } from "../web-request.ts";
import type { ReadingMonitor } from "./reading.ts";
import { idIn, jsonMember } from "./tables.ts";

/** Of Kuma. */
const STANDARD_REDIRECTS = 10;
const BODY_TYPES: Readonly<Record<string, string>> = {
  form: "application/x-www-form-urlencoded",
  xml: "text/xml; charset=utf-8",
  json: "application/json",
};

export function readWebsite(monitor: MonitorDraft, row: Fields, { days, proxies }: ReadingMonitor): void {
  const type = memberOf(row, "type");
  const keyword = type === "keyword" ? textAt(row, "keyword") : undefined;
  monitor.kind(keyword === undefined ? "http" : "keyword").set("url", textAt(row, "url")?.trim());
  if (type === "keyword" && keyword === undefined) monitor.lost("it has no keyword");
  if (keyword !== undefined) monitor.keyword(keyword);
  if (keyword !== undefined && booleanAt(row, "invert_keyword") === true) monitor.set("invert_keyword", true);
  if (type === "json-query") readQuery(monitor, row);
  readCodes(monitor, jsonMember(row, "accepted_statuscodes_json"));
  readRequest(monitor, row);
  readLogin(monitor, row);
  readTls(monitor, row, days);
  if (booleanAt(row, "upside_down") === true) monitor.set("invert", true);
  const family = memberOf(row, "ip_family");
  if (family === "ipv4" || family === "ipv6") monitor.set("ip_version", family);
  if (booleanAt(row, "cache_bust") === true) monitor.lost("the number that it adds to the address against caches");
  const proxy = idIn(memberOf(row, "proxy_id"));
  if (proxy !== undefined && proxies.has(proxy)) monitor.lost("its proxy: checks go straight to the target");
}

function readRequest(monitor: MonitorDraft, row: Fields): void {
  const body = textAt(row, "body");
  const encoding = textAt(row, "http_body_encoding") ?? "json";
  setRequest(monitor, {
    method: textAt(row, "method"),
    headers: readHeaders(monitor, row),
    body: body?.trim() === "" ? undefined : body,
    bodyType: memberOf(BODY_TYPES, encoding),
  });
  setRedirects(monitor, numberAt(row, "maxredirects") ?? STANDARD_REDIRECTS);
}

function readHeaders(monitor: MonitorDraft, row: Fields): Record<string, string> {
  const text = memberOf(row, "headers");
  const headers = jsonIn(text);
  if (!isFields(headers) && typeof text === "string" && text.trim() !== "")
    monitor.lost("its headers, which are no JSON object");
  return headersOf(headers);
}

function readLogin(monitor: MonitorDraft, row: Fields): void {
  const user = textAt(row, "basic_auth_user");
  // Before Kuma knew several ways, a name alone said that it logs in.
  const isOld = !Object.hasOwn(row, "auth_method") && user !== undefined;
  const way = isOld ? "basic" : (textAt(row, "auth_method") ?? "");
  if (way === "basic") {
    monitor.set("basic_auth_username", user ?? "");
    monitor.set("basic_auth_password", textAt(row, "basic_auth_pass"));
  } else if (way === "bearer") {
    const token = textAt(row, "bearer_token");
    if (token === undefined) monitor.lost("it logs in with a token that is not there");
    else monitor.set("bearer_token", token);
  } else if (way === "mtls") {
    monitor.set("client_certificate", textAt(row, "tls_cert"));
    monitor.set("client_key", textAt(row, "tls_key"));
    if (textAt(row, "tls_ca") !== undefined) monitor.lost("an authority of its own for the server's certificate");
  } else if (way !== "" && way !== "null" && way !== "none") monitor.lost(`it logs in by ${quoted(way)}`);
}

function readTls(monitor: MonitorDraft, row: Fields, days: ReadingMonitor["days"]): void {
  if (booleanAt(row, "ignore_tls") === true) monitor.set("verify_certificate", false);
  monitor.certificateDays(booleanAt(row, "expiry_notification") === true ? days.certificate : 0);
  if (booleanAt(row, "domain_expiry_notification") === true) monitor.domainDays(days.domain);
}

const ORDERED: readonly string[] = [">", ">=", "<", "<="];

/** Kuma compares what the query gives as texts, or as numbers where it asks which is greater. */
function readQuery(monitor: MonitorDraft, row: Fields): void {
  const path = textAt(row, "json_path")?.trim() || "$";
  const operator = textAt(row, "json_path_operator") ?? "==";
  const expected = textAt(row, "expected_value") ?? "";
  if (operator === "==") monitor.set("json_query", path).set("json_expected", expected);
  else if (operator === "!=") monitor.set("json_query", `$string(${path}) != ${JSON.stringify(expected)}`);
  else if (operator === "contains")
    monitor.set("json_query", `$contains($string(${path}), ${JSON.stringify(expected)})`);
  else if (ORDERED.includes(operator) && numberIn(expected) !== undefined)
    monitor.set("json_query", `$number(${path}) ${operator} ${numberIn(expected)}`);
  else monitor.lost(`its JSON query compares by ${quoted(operator)} with ${quoted(expected)}`);
}
