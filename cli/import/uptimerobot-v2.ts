/** Monitors of UptimeRobot's API v2 (POST /v2/getMonitors), which most of its clients speak, in the names and words of its API v3. Pure. */
import { Codes } from "./status-codes.ts";
import { booleanAt, type Fields, fieldsAt, memberOf, numberAt, textAt } from "./values.ts";

/** By number, as its documentation lists them. */
const TYPES: Readonly<Record<string, string>> = { 1: "HTTP", 2: "KEYWORD", 3: "PING", 4: "PORT", 5: "HEARTBEAT" };
const METHODS: Readonly<Record<string, string>> = {
  1: "HEAD",
  2: "GET",
  3: "POST",
  4: "PUT",
  5: "PATCH",
  6: "DELETE",
  7: "OPTIONS",
};
/** Of services of ports; 99 is a port of its own. */
const PORTS: Readonly<Record<string, number>> = { 1: 80, 2: 443, 3: 21, 4: 25, 5: 110, 6: 143 };
const LOGINS: Readonly<Record<string, string>> = { 1: "HTTP_BASIC", 2: "DIGEST" };
const KEY_VALUE = 1;
/** `404:0_200:1`: which codes it counts as down and as up, besides its own. */
const CODES = /^\d{3}:[01](?:_\d{3}:[01]){0,200}$/;

export function isOfV2(row: Fields): boolean {
  return memberOf(row, "friendly_name") !== undefined;
}

export function fromV2(row: Fields): Fields {
  const word = (name: string, words: Readonly<Record<string, unknown>>): unknown => {
    const number = textAt(row, name) ?? "";
    return memberOf(words, number);
  };
  const text = (name: string): string | undefined => textAt(row, name);
  const user = text("http_username");
  const ignoresErrors = booleanAt(fieldsAt(row, "ssl"), "ignore_errors") === true;
  const known: Record<string, unknown> = {
    id: memberOf(row, "id"),
    friendlyName: text("friendly_name"),
    type: word("type", TYPES) ?? text("type"),
    status: numberAt(row, "status") === 0 ? "PAUSED" : "UP",
    url: text("url"),
    port: word("sub_type", PORTS) ?? memberOf(row, "port"),
    interval: memberOf(row, "interval"),
    timeout: memberOf(row, "timeout"),
    keywordType: word("keyword_type", { 1: "ALERT_EXISTS", 2: "ALERT_NOT_EXISTS" }),
    keywordValue: text("keyword_value"),
    keywordCaseType: numberAt(row, "keyword_case_type"),
    httpMethodType: word("http_method", METHODS),
    authType: user === undefined ? "NONE" : (word("http_auth_type", LOGINS) ?? "HTTP_BASIC"),
    httpUsername: user,
    httpPassword: text("http_password"),
    customHttpHeaders: memberOf(row, "custom_http_headers"),
    postValueType: numberAt(row, "post_type") === KEY_VALUE ? "KEY_VALUE" : "RAW",
    postValueData: memberOf(row, "post_value"),
    successHttpResponseCodes: codesOfV2(row),
    checkSSLErrors: ignoresErrors ? false : undefined,
    assignedAlertContacts: memberOf(row, "alert_contacts"),
    maintenanceWindows: memberOf(row, "mwindows"),
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
}

/** What it says of codes, besides that those below 400 are up. @returns undefined when it says nothing */
function codesOfV2(row: Fields): readonly string[] | undefined {
  const text = textAt(row, "custom_http_statuses")?.trim();
  if (text === undefined || !CODES.test(text)) return undefined;
  const isUp = new Map(text.split("_").map((one) => [Number(one.slice(0, 3)), one.endsWith("1")]));
  const codes = new Codes();
  codes.keep((code) => isUp.get(code) ?? (code >= 200 && code < 400));
  return codes.ranges();
}
