/** What handlers see of a request, whichever server has read it. */
import type { Head } from "./head.ts";
import type { ApiRequest } from "./http.ts";

export interface ReadHead {
  readonly method: string;
  /** Raw: a path, with its query. */
  readonly target: string;
  readonly head: Head;
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
    remoteAddress,
    body,
  };
}
