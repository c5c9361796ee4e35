/** Who may read a page: everybody, who has the link, who knows the password, who is signed in to the page's project. A draft only the last. */
import { formatId } from "../../model/ids.ts";
import type { MaybePromise } from "../../model/maybe-promise.ts";
import type { Api } from "../api.ts";
import { identify, mayStill, sentKey } from "../auth.ts";
import { isOwn } from "../csrf.ts";
import { ApiError } from "../errors.ts";
import type { ApiRequest } from "../http.ts";
import type { Call, ProjectRoute } from "../route.ts";
import { cookieValue } from "../session-cookie.ts";
import type { ShownPage } from "./public-pages.ts";
import { isLinkToken, isUnlocked } from "./secrets.ts";

/** `hidden`: as if there were no such page. */
export type Entry = "open" | "hidden" | "password" | "sign-in";

/** What is asked of a caller who reads a project: nothing else of it counts here. */
const READS_PROJECT: ProjectRoute = {
  method: "GET",
  path: "/status-pages",
  operationId: "readStatusPage",
  group: "Status pages",
  summary: "",
  scope: "project",
  responses: {},
  handle: () => {
    throw new Error("it is asked who calls, and nothing else");
  },
};

export function entryOf(api: Api, call: Call, { page, secrets }: ShownPage): MaybePromise<Entry> {
  if (!page.published) return signedIn(api, call, page.projectId, "hidden");
  switch (page.access) {
    case "public":
      return "open";
    case "link":
      return isLinkToken(secrets, sentToken(call.request)) ? "open" : "hidden";
    case "password":
      return isUnlocked(secrets, cookieValue(cookieName(page.slug), call.request.cookie) ?? "", call.nowMs)
        ? "open"
        : "password";
    case "session":
      return signedIn(api, call, page.projectId, "sign-in");
  }
}

/** @throws 429 when too many wrong keys came from where it comes from: one that is sent to a page counts as one that is sent to the API */
async function signedIn(api: Api, call: Call, projectId: number, otherwise: "hidden" | "sign-in"): Promise<Entry> {
  try {
    if (sentKey(call.request) !== null) await identify(api, call);
  } catch (error) {
    if (error instanceof ApiError && error.status !== 429) return otherwise;
    throw error;
  }
  const request = { ...call.request, projectId: formatId("project", projectId) };
  return (await mayStill(api, READS_PROJECT, { ...call, request })) ? "open" : otherwise;
}

export function sentToken({ query }: Pick<ApiRequest, "query">): string {
  return query === "" ? "" : (new URLSearchParams(query).get("t") ?? "");
}

export function cookieName(slug: string): string {
  return `sonde-page-${slug}`;
}

/**
 * Whether a form of ours was sent. It has no script, so it has no header of its own: a browser says where it came from, and which site's page
 * it stood in where it says so.
 */
export function isOwnForm({ origin, host, secFetchSite }: ApiRequest, baseUrl: string | null): boolean {
  if (secFetchSite !== "" && secFetchSite !== "same-origin") return false;
  return origin === "" ? secFetchSite !== "" : isOwn(origin, host, baseUrl);
}
