/** Kuma's http, keyword and json-query: one request, and what is asked of its answer. */
import type { MonitorDraft } from "../monitor-draft.ts";
import { readCodes } from "../status-codes.ts";
import { booleanIn, type Fields, isFields, jsonIn, memberOf, numberIn, quoted, textIn } from "../values.ts";
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
  const keyword = type === "keyword" ? textIn(memberOf(row, "keyword")) : undefined;
  monitor.kind(keyword === undefined ? "http" : "keyword").set("url", textIn(memberOf(row, "url"))?.trim());
  if (type === "keyword" && keyword === undefined) monitor.lost("it has no keyword");
  if (keyword !== undefined) monitor.keyword(keyword);
  if (keyword !== undefined && booleanIn(memberOf(row, "invert_keyword")) === true) monitor.set("invert_keyword", true);
  if (type === "json-query") readQuery(monitor, row);
  readCodes(monitor, jsonMember(row, "accepted_statuscodes_json"));
  readRequest(monitor, row);
  readLogin(monitor, row);
  readTls(monitor, row, days);
  if (booleanIn(memberOf(row, "upside_down")) === true) monitor.set("invert", true);
  const family = memberOf(row, "ip_family");
  if (family === "ipv4" || family === "ipv6") monitor.set("ip_version", family);
  if (booleanIn(memberOf(row, "cache_bust")) === true)
    monitor.lost("the number that it adds to the address against caches");
  const proxy = idIn(memberOf(row, "proxy_id"));
  if (proxy !== undefined && proxies.has(proxy)) monitor.lost("its proxy: checks go straight to the target");
}

function readRequest(monitor: MonitorDraft, row: Fields): void {
  const body = textIn(memberOf(row, "body"));
  const encoding = textIn(memberOf(row, "http_body_encoding")) ?? "json";
  setRequest(monitor, {
    method: textIn(memberOf(row, "method")),
    headers: readHeaders(monitor, row),
    body: body?.trim() === "" ? undefined : body,
    bodyType: Object.hasOwn(BODY_TYPES, encoding) ? BODY_TYPES[encoding] : undefined,
  });
  setRedirects(monitor, numberIn(memberOf(row, "maxredirects")) ?? STANDARD_REDIRECTS);
}

function readHeaders(monitor: MonitorDraft, row: Fields): Record<string, string> {
  const text = memberOf(row, "headers");
  const headers = jsonIn(text);
  if (!isFields(headers) && typeof text === "string" && text.trim() !== "")
    monitor.lost("its headers, which are no JSON object");
  return headersOf(headers);
}

function readLogin(monitor: MonitorDraft, row: Fields): void {
  const user = textIn(memberOf(row, "basic_auth_user"));
  // Before Kuma knew several ways, a name alone said that it logs in.
  const isOld = !Object.hasOwn(row, "auth_method") && user !== undefined;
  const way = isOld ? "basic" : (textIn(memberOf(row, "auth_method")) ?? "");
  if (way === "basic") {
    monitor.set("basic_auth_username", user ?? "");
    monitor.set("basic_auth_password", textIn(memberOf(row, "basic_auth_pass")));
  } else if (way === "bearer") {
    const token = textIn(memberOf(row, "bearer_token"));
    if (token === undefined) monitor.lost("it logs in with a token that is not there");
    else monitor.set("bearer_token", token);
  } else if (way === "mtls") {
    monitor.set("client_certificate", textIn(memberOf(row, "tls_cert")));
    monitor.set("client_key", textIn(memberOf(row, "tls_key")));
    if (textIn(memberOf(row, "tls_ca")) !== undefined)
      monitor.lost("an authority of its own for the server's certificate");
  } else if (way !== "" && way !== "null" && way !== "none") monitor.lost(`it logs in by ${quoted(way)}`);
}

function readTls(monitor: MonitorDraft, row: Fields, days: ReadingMonitor["days"]): void {
  if (booleanIn(memberOf(row, "ignore_tls")) === true) monitor.set("verify_certificate", false);
  monitor.certificateDays(booleanIn(memberOf(row, "expiry_notification")) === true ? days.certificate : 0);
  if (booleanIn(memberOf(row, "domain_expiry_notification")) === true) monitor.domainDays(days.domain);
}

const ORDERED: readonly string[] = [">", ">=", "<", "<="];

/** Kuma compares what the query gives as texts, or as numbers where it asks which is greater. */
function readQuery(monitor: MonitorDraft, row: Fields): void {
  const path = textIn(memberOf(row, "json_path"))?.trim() || "$";
  const operator = textIn(memberOf(row, "json_path_operator")) ?? "==";
  const expected = textIn(memberOf(row, "expected_value")) ?? "";
  if (operator === "==") monitor.set("json_query", path).set("json_expected", expected);
  else if (operator === "!=") monitor.set("json_query", `$string(${path}) != ${JSON.stringify(expected)}`);
  else if (operator === "contains")
    monitor.set("json_query", `$contains($string(${path}), ${JSON.stringify(expected)})`);
  else if (ORDERED.includes(operator) && numberIn(expected) !== undefined)
    monitor.set("json_query", `$number(${path}) ${operator} ${numberIn(expected)}`);
  else monitor.lost(`its JSON query compares by ${quoted(operator)} with ${quoted(expected)}`);
}
