/** What importers of several sources say of a website's request and of DNS records. */
import type { MonitorDraft } from "./monitor-draft.ts";
import { isFields, quoted, textIn } from "./values.ts";

const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const RECORD_TYPES: readonly string[] = ["A", "AAAA", "CNAME", "MX", "NS", "TXT", "SOA", "SRV", "PTR", "CAA"];
/** Of monitors here. */
const STANDARD_REDIRECTS = 10;
const MOST_REDIRECTS = 20;

export interface WebRequest {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Sent with the body unless a header says another. */
  readonly bodyType?: string | undefined;
}

export function setRequest(monitor: MonitorDraft, { method = "GET", headers = {}, body, bodyType }: WebRequest): void {
  const name = method.trim().toUpperCase();
  if (!METHODS.includes(name)) monitor.lost(`the method ${quoted(method)}`);
  else if (name !== "GET") monitor.set("method", name);
  const sent: Record<string, string> = { ...headers };
  if (body !== undefined && body !== "") {
    const isTyped = Object.keys(sent).some((one) => one.toLowerCase() === "content-type");
    if (bodyType !== undefined && !isTyped) sent["Content-Type"] = bodyType;
    monitor.set("body", body);
  }
  if (Object.keys(sent).length > 0) monitor.set("headers", sent);
}

/** An object of texts, or a list of pairs whose members have these names. */
export function headersOf(value: unknown, name = "name"): Record<string, string> {
  const pairs = Array.isArray(value)
    ? value.filter(isFields).map((one) => [textIn(one[name]), one.value] as const)
    : Object.entries(isFields(value) ? value : {});
  const texts = pairs.flatMap(([key, text]) => (key === undefined ? [] : [[key, textIn(text) ?? ""] as const]));
  return Object.fromEntries(texts);
}

export function setRedirects(monitor: MonitorDraft, most: number): void {
  if (most > MOST_REDIRECTS) monitor.changed(`of ${most} redirects ${MOST_REDIRECTS} are followed`);
  const kept = Math.min(Math.max(0, Math.round(most)), MOST_REDIRECTS);
  if (kept !== STANDARD_REDIRECTS) monitor.set("max_redirects", kept);
}

export function setRecordType(monitor: MonitorDraft, type: string | undefined): void {
  const name = (type ?? "").trim().toUpperCase();
  if (RECORD_TYPES.includes(name)) monitor.set("record_type", name);
  else monitor.lost(`records of type ${quoted(type ?? "")}`);
}
