/** xhttp's mode and extra: an untrusted JSON object; only fields that xray knows and that have the right type are kept. */

import { isFields } from "../../../model/plain-values.ts";
import { type Parameters, paramOf, refuse } from "./field.ts";
import type { Transport, XhttpExtra } from "./proxy-config.ts";

const MODES = ["auto", "packet-up", "stream-up", "stream-one"] as const;
const PLACEMENTS = ["path", "cookie", "header", "query"];

type Kind = "range" | "number" | "flag" | "token" | readonly string[];

/** xray, infra/conf/transport_internet.go, SplitHTTPConfig; those outside `extra` are of 3x-ui. */
const FIELDS: Readonly<Record<string, Kind>> = {
  xPaddingBytes: "range",
  noGRPCHeader: "flag",
  noSSEHeader: "flag",
  scMaxEachPostBytes: "range",
  scMinPostsIntervalMs: "range",
  scMaxBufferedPosts: "number",
  scStreamUpServerSecs: "range",
  sessionPlacement: PLACEMENTS,
  sessionKey: "token",
  seqPlacement: PLACEMENTS,
  seqKey: "token",
  uplinkDataPlacement: ["body", "cookie", "header", "auto"],
  uplinkDataKey: "token",
  uplinkChunkSize: "range",
  uplinkHTTPMethod: ["POST", "PUT", "PATCH", "DELETE", "GET"],
  xPaddingObfsMode: "flag",
  xPaddingKey: "token",
  xPaddingHeader: "token",
  xPaddingPlacement: ["cookie", "header", "query", "queryInHeader"],
  xPaddingMethod: ["repeat-x", "tokenish"],
};
const XMUX: Readonly<Record<string, Kind>> = {
  maxConcurrency: "range",
  maxConnections: "range",
  cMaxReuseTimes: "range",
  hMaxRequestTimes: "range",
  hMaxReusableSecs: "range",
  hKeepAlivePeriod: "number",
};
const OUTSIDE_EXTRA = ["xPaddingBytes", "scMaxEachPostBytes", "scMinPostsIntervalMs", "uplinkChunkSize"] as const;
const MAX_HEADERS = 16;
/** They decide where a request goes or where it ends. */
const OWN_HEADERS = new Set(["host", "content-length", "transfer-encoding", "connection", "upgrade"]);
/** xray keeps these in 32 bits. */
const MOST = 2 ** 31 - 1;
/**
 * Bounds of our own, because xray has none. It makes the padding of each request at once: 300 MB of it take more than 1 GB. It sends what goes up
 * in pieces, each a request of its own, so a check would ask a server for as many as it has bytes to say. Servers take 8 KiB of headers by default.
 */
const BOUNDS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  "extra.xPaddingBytes": [1, 65_536],
  "extra.scMaxEachPostBytes": [256, MOST],
  "extra.uplinkChunkSize": [64, MOST],
};

type Xhttp = Pick<Extract<Transport, { type: "xhttp" }>, "mode" | "extra" | "hasDownload">;

/** @throws TunnelConfigError */
export function xhttpOf(parameters: Parameters): Xhttp {
  const word = paramOf(parameters, "mode").trim().toLowerCase();
  const mode = word === "" ? "auto" : MODES.find((known) => known === word);
  if (mode === undefined) throw refuse("mode", `must be one of ${MODES.join(", ")}`);
  const written = objectOf(paramOf(parameters, "extra"));
  for (const name of OUTSIDE_EXTRA) {
    const value = paramOf(parameters, name.toLowerCase());
    if (value !== "" && !Object.hasOwn(written, name)) written[name] = value;
  }
  const extra: Record<string, XhttpExtra[string]> = typed(written, FIELDS);
  const headers = headersOf(written.headers);
  if (Object.keys(headers).length > 0) extra.headers = headers;
  if (written.xmux !== undefined) extra.xmux = xmuxOf(written.xmux);
  if (mode !== "packet-up") refusePacketUpFields(extra);
  return { mode, extra, hasDownload: written.downloadSettings !== undefined && written.downloadSettings !== null };
}

function objectOf(text: string): Record<string, unknown> {
  if (text === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse("extra", "is not JSON");
  }
  if (!isFields(value)) throw refuse("extra", "must be a JSON object");
  return Object.assign(Object.create(null), value) as Record<string, unknown>;
}

function xmuxOf(value: unknown): Record<string, string | number> {
  if (!isFields(value)) throw refuse("extra.xmux", "must be a JSON object");
  const xmux = typed(value, XMUX, "extra.xmux.") as Record<string, string | number>;
  // xray refuses the two together when both say something.
  if (said(xmux.maxConcurrency) && said(xmux.maxConnections)) {
    throw refuse("extra.xmux", "has both maxConcurrency and maxConnections");
  }
  return xmux;
}

function said(value: unknown): boolean {
  return value !== undefined && !["0", "0-0"].includes(String(value));
}

/** Only packet-up can hide what goes up (xray, SplitHTTPConfig.Build). */
function refusePacketUpFields(extra: Record<string, unknown>): void {
  if (["cookie", "header"].includes(String(extra.uplinkDataPlacement)) || extra.uplinkHTTPMethod === "GET") {
    throw refuse("extra.uplinkDataPlacement", "needs mode packet-up");
  }
}

function typed(value: Record<string, unknown>, fields: Readonly<Record<string, Kind>>, prefix = "extra.") {
  const found: Record<string, string | number | boolean> = {};
  for (const [name, kind] of Object.entries(fields)) {
    const parameters = Object.hasOwn(value, name) ? value[name] : undefined;
    if (parameters !== undefined && parameters !== null && parameters !== "")
      found[name] = typedValue(parameters, kind, `${prefix}${name}`);
  }
  return found;
}

function typedValue(value: unknown, kind: Kind, field: string): string | number | boolean {
  if (kind === "flag") {
    if (typeof value !== "boolean") throw refuse(field, "must be true or false");
    return value;
  }
  if (kind === "range" || kind === "number") return numeric(value, kind, field);
  const text = typeof value === "string" ? value : "";
  if (kind === "token") {
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(text)) throw refuse(field, "must be a word of letters, digits, - and _");
    return text;
  }
  if (!kind.includes(text)) throw refuse(field, `must be one of ${kind.join(", ")}`);
  return text;
}

/** One number, or `from-to`. */
function numeric(value: unknown, kind: "range" | "number", field: string): string | number {
  const [, from = "", to] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(String(value)) ?? [];
  const isWhole = from !== "" && Number(from) <= MOST && (to === undefined || (kind === "range" && Number(to) <= MOST));
  if (!isWhole || (to !== undefined && Number(to) < Number(from))) {
    throw refuse(field, kind === "range" ? "must be a whole number or a range" : "must be a whole number");
  }
  const [least, most] = BOUNDS[field] ?? [0, MOST];
  if (Number(from) < least) throw refuse(field, `must be at least ${least}`);
  if (Number(to ?? from) > most) throw refuse(field, `must be at most ${most}`);
  return to === undefined ? Number(from) : `${Number(from)}-${Number(to)}`;
}

function headersOf(value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (!isFields(value)) throw refuse("extra.headers", "must be a JSON object");
  const headers: Record<string, string> = {};
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  if (entries.length > MAX_HEADERS) throw refuse("extra.headers", `has more than ${MAX_HEADERS} headers`);
  for (const [name, text] of entries) {
    if (!/^[A-Za-z0-9-]{1,64}$/.test(name) || OWN_HEADERS.has(name.toLowerCase())) {
      throw refuse("extra.headers", "has a header that cannot be set");
    }
    if (typeof text !== "string" || !/^[\u0020-\u007e]{0,1024}$/.test(text)) {
      throw refuse("extra.headers", "must be texts in ASCII");
    }
    headers[name] = text;
  }
  return headers;
}
