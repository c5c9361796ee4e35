/** What handlers see of a request, whichever server has read it. */
import type { Head } from "./head.ts";
import type { ApiRequest } from "./http.ts";

export interface ReadHead {
  readonly method: string;
  /** Raw: a path, with its query. Of an address in its place, originForm() makes one. */
  readonly target: string;
  readonly head: Head;
}

/** RFC 9112 section 3.2.2. A user name before the host means nothing to a server (RFC 9110 section 4.2.4). */
const ABSOLUTE = /^https?:\/\/([^/?#@]+)(?:\/(.*)|(\?.*)?)$/is;

/**
 * A request may also name the whole address in its first line, as proxies are asked. A server must take that, and the host named there counts instead of
 * the header's.
 * @param target as it came @param head gets that host @returns a path with its query; what is no http address stays as it is
 */
export function originForm(target: string, head: Head): string {
  if (target.startsWith("/")) return target;
  const [, authority, path = "", query = ""] = ABSOLUTE.exec(target) ?? [];
  if (authority === undefined) return target;
  head.nameHost(authority);
  return `/${path}${query}`;
}

/** @returns the target without its query */
export function pathOf(target: string): string {
  const mark = target.indexOf("?");
  return mark < 0 ? target : target.slice(0, mark);
}

/** @param remoteAddress of the connection */
export function requestOf(
  { method, target, head }: ReadHead,
  remoteAddress: string,
  body: ApiRequest["body"],
): ApiRequest {
  const path = pathOf(target);
  return {
    method,
    path,
    query: target.slice(path.length + 1),
    apiKey: head.apiKey,
    authorization: head.authorization,
    projectId: head.projectId,
    forwardedFor: head.forwardedFor,
    isProxied: head.isProxied,
    ifNoneMatch: head.ifNoneMatch,
    acceptEncoding: head.acceptEncoding,
    idempotencyKey: head.idempotencyKey,
    cookie: head.cookie,
    origin: head.origin,
    host: head.host,
    secFetchSite: head.secFetchSite,
    page: head.page,
    userAgent: head.userAgent,
    acceptLanguage: head.acceptLanguage,
    remoteAddress,
    body,
  };
}
