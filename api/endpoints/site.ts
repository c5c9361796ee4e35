/** The page: one document and its files. All its addresses are relative, so that a proxy may serve us below a path of its own. */
import { z } from "zod";
import { andThen } from "../../model/maybe-promise.ts";
import type { Api } from "../api.ts";
import { refusal } from "../errors.ts";
import type { ApiRequest, ApiResponse } from "../http.ts";
import { acceptsCoding, isKnown } from "../listed.ts";
import type { Call, Route } from "../route.ts";
import type { SiteFile } from "../site.ts";
import { pageAtDomain } from "./status.ts";

/** Asked again each time, but answered 304 while nothing changed. */
const REVALIDATED = "no-cache";
const KEPT_FOR_EVER = "public, max-age=31536000, immutable";

const base = { method: "GET", atRoot: true, group: "Page", scope: "public", hidden: true } as const;

export const site: readonly Route[] = [
  {
    ...base,
    operationId: "getPage",
    path: "/",
    summary: "A status page at its own domain, else the page; where there is none, the way to the document of the API",
    responses: { 200: "text/html", 302: "", 304: "" },
    handle: (api: Api, call: Call) => andThen(pageAtDomain(api, call), (found) => found ?? ownPage(api, call)),
  },
  {
    ...base,
    operationId: "getPageFile",
    path: "/assets/{file}",
    summary: "A file of the page",
    params: { file: z.string() },
    responses: { 200: "application/octet-stream", 304: "" },
    handle({ site: page }: Api, { request, params }: Call) {
      const file = page?.assets.get(params[0] ?? "");
      if (file === undefined) throw refusal("notFound");
      return answer(request, file, KEPT_FOR_EVER);
    },
  },
];

function ownPage({ site: page, config }: Api, { request }: Call): ApiResponse {
  if (page === null) return { status: 302, headers: ["Location", config.docsUrl ?? "docs"], body: "" };
  return answer(request, page.index, REVALIDATED);
}

function answer({ ifNoneMatch, acceptEncoding }: ApiRequest, file: SiteFile, cache: string): ApiResponse {
  const headers = ["Cache-Control", cache, "ETag", file.tag, "Vary", "Accept-Encoding"];
  if (isKnown(ifNoneMatch, file.tag)) return { status: 304, headers, body: "" };
  headers.push("Content-Type", file.mediaType);
  const packed = file.packed.find(({ coding }) => acceptsCoding(acceptEncoding, coding));
  if (packed === undefined) return { status: 200, headers, body: file.plain };
  headers.push("Content-Encoding", packed.coding);
  return { status: 200, headers, body: packed.bytes };
}
