/**
 * Lists: an `ETag`, 304 for those that have the list already, and gzip where the caller takes it.
 *
 * The length of a compressed answer shows how alike its parts are. An observer of lengths who has a text in the answer, such as the error message of
 * a watched server, could guess a secret that stands beside it, letter by letter (BREACH). So an answer that shows secrets is never compressed: its
 * handler says so (`holdsSecrets`). Of lists that is the one of monitors whose addresses have a query or a user name.
 */
import { gzip } from "node:zlib";
import { z } from "zod";
import type { MaybePromise } from "../model/maybe-promise.ts";
import { tagOf } from "./etag.ts";
import type { ApiRequest, ApiResponse } from "./http.ts";
import type { ResponseHeader, Route } from "./route.ts";

/** Below this size compression saves one packet at most. */
const LEAST_BYTES = 1_024;
/** 30 ms of a thread. A longer list is sent as it is. */
const MOST_BYTES = 4 * 1_048_576;
/** Threads of libuv's four that compress at the same time; the others look up names and write files. Further lists are sent uncompressed. */
const MOST_AT_ONCE = 2;
/** Takes half the time of zlib's default level, for a tenth more bytes. */
const LEVEL = 3;

const HEADERS: Readonly<Record<string, ResponseHeader>> = {
  ETag: {
    description: "Of this list: sent back as If-None-Match it gives 304 while nothing changed",
    schema: z.string(),
    required: true,
    on: [200, 304],
  },
  Vary: { description: "It may be compressed", schema: z.literal("Accept-Encoding"), required: true, on: [200, 304] },
};

/** A route that answers a list, with what every list has. */
export function listed<R extends Route>(route: R): R {
  return {
    ...route,
    isList: true,
    responses: { ...route.responses, 304: "" },
    headers: { ...route.headers, ...HEADERS },
  };
}

export type Listed = (route: Route, request: ApiRequest, response: ApiResponse) => MaybePromise<ApiResponse>;

export function createListed(): Listed {
  let running = 0;
  /** Compressed bodies of answers that are kept. Each is made once: compressing takes longer than everything else that is done for such a request. */
  const compressed = new WeakMap<Uint8Array, Uint8Array>();
  return (route, request, response) => {
    if (route.isList !== true || response.status !== 200) return response;
    const tag = response.tag ?? tagOf(response.body);
    const headers = [...response.headers, "ETag", tag, "Vary", "Accept-Encoding"];
    if (isKnown(request.ifNoneMatch, tag)) return { status: 304, headers: withoutType(headers), body: "" };
    const plain = { ...response, headers };
    const size = Buffer.byteLength(response.body);
    const mayCompress = size >= LEAST_BYTES && size <= MOST_BYTES && response.holdsSecrets !== true;
    if (!mayCompress || !acceptsCoding(request.acceptEncoding, "gzip")) return plain;
    const { body } = response;
    const before = typeof body === "string" ? undefined : compressed.get(body);
    if (before !== undefined) return asGzip(plain, before);
    if (running >= MOST_AT_ONCE) return plain;
    running += 1;
    return gzipped(body)
      .then((made) => {
        if (made === null) return plain;
        if (typeof body !== "string") compressed.set(body, made);
        return asGzip(plain, made);
      })
      .finally(() => {
        running -= 1;
      });
  };
}

function asGzip(plain: ApiResponse, body: Uint8Array): ApiResponse {
  return { ...plain, headers: [...plain.headers, "Content-Encoding", "gzip"], body };
}

/** Whether the caller has the answer with this tag already (RFC 9110 section 13.1.2). @param ifNoneMatch the header, empty when absent */
export function isKnown(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch === "") return false;
  const opaque = tag.replace(/^W\//, "");
  return ifNoneMatch.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === opaque);
}

/** Whether the caller takes this coding, and not with weight 0 (RFC 9110 section 12.5.3). `*` does not count: programs that send it may be unable to unpack. */
export function acceptsCoding(acceptEncoding: string, wanted: "gzip" | "br"): boolean {
  for (const entry of acceptEncoding.split(",")) {
    const [coding = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    if (coding === wanted || coding === `x-${wanted}`) return !parameters.some((one) => /^q=0(?:\.0{0,3})?$/.test(one));
  }
  return false;
}

/** @returns null where zlib failed */
function gzipped(body: ApiResponse["body"]): Promise<Uint8Array | null> {
  return new Promise((settle) => {
    gzip(body, { level: LEVEL }, (error, made) => settle(error === null ? made : null));
  });
}

function withoutType(headers: readonly string[]): readonly string[] {
  const at = headers.indexOf("Content-Type");
  return at < 0 ? headers : [...headers.slice(0, at), ...headers.slice(at + 2)];
}
