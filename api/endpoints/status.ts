/** What the public reads: status pages with their files, feeds and incidents (docs/use/status-pages.md). All at the root, all without a key. */
import { isIP } from "node:net";
import { z } from "zod";
import { andThen, type MaybePromise } from "../../model/maybe-promise.ts";
import { logoParts } from "../../model/status-page-reader.ts";
import { parseUrl } from "../../model/url.ts";
import { networkOf } from "../address.ts";
import type { Api } from "../api.ts";
import { refusal } from "../errors.ts";
import type { ApiRequest, ApiResponse } from "../http.ts";
import { acceptsCoding, isKnown } from "../listed.ts";
import { cookieName, type Entry, entryOf, isOwnForm, sentToken } from "../pages/entry.ts";
import { FEEDS, feedOf } from "../pages/feeds.ts";
import type { Addresses } from "../pages/frame.ts";
import { AddressGate } from "../pages/gate.ts";
import { PRIVATE_CACHE, PUBLIC_CACHE, pageSecurity, SHARED_SECURITY } from "../pages/headers.ts";
import { incidentPage } from "../pages/incident.ts";
import { styleOf } from "../pages/look.ts";
import { type Around, indexPage, missingPage, PLAIN_STYLE, passwordPage, signInPage } from "../pages/messages.ts";
import type { Form, Made, ShownPage } from "../pages/public-pages.ts";
import { isPassword, UNLOCKED_MS, unlockedCookie } from "../pages/secrets.ts";
import { statusPage } from "../pages/status.ts";
import { summaryOf } from "../pages/summary.ts";
import { wantedLanguage } from "../pages/words.ts";
import type { Call, Route } from "../route.ts";

const HTML = "text/html; charset=utf-8";
const JSON_TYPE = "application/json";
/** Requests of one address in a minute. */
const MOST_A_MINUTE = 120;
/** Passwords that one address may try in a minute. */
const PASSWORDS_A_MINUTE = 10;
/** Passwords that are looked at together: each takes a thread of libuv's four for 50 ms. */
const PASSWORDS_AT_ONCE = 2;
/** Of a form with one password. */
const LONGEST_FORM = 4_096;

const gates = new WeakMap<Api, { readonly requests: AddressGate; readonly passwords: AddressGate; trying: number }>();

function gatesOf(api: Api) {
  const known = gates.get(api);
  if (known !== undefined) return known;
  const made = { requests: new AddressGate(MOST_A_MINUTE), passwords: new AddressGate(PASSWORDS_A_MINUTE), trying: 0 };
  gates.set(api, made);
  return made;
}

/** @throws 429 */
export function passGate(api: Api, call: Call): void {
  const waitS = gatesOf(api).requests.waitS(networkOf(call.clientAddress), call.nowMs);
  if (waitS > 0) throw refusal("tooManyPageRequests", { retryAfterS: waitS });
}

/** Where a page's files are from the address that was asked. */
type From = "page" | "file" | "incident" | "root";

function placeOf(slug: string, from: From, query: string): Addresses {
  switch (from) {
    case "page":
      return { files: `${slug}/`, page: slug, query };
    case "file":
      return { files: "./", page: `../${slug}`, query };
    case "incident":
      return { files: "../", page: `../../${slug}`, query };
    case "root":
      return { files: `status/${slug}/`, page: ".", query };
  }
}

/** Where badges are, and what a closed page leads to. */
const BADGES: Readonly<Record<From, string>> = {
  page: "../badge/",
  file: "../../badge/",
  incident: "../../../badge/",
  root: "badge/",
};

function aroundOf(slug: string, from: From): Around {
  switch (from) {
    case "page":
      return { style: "-/", page: slug, root: "../" };
    case "file":
      return { style: "../-/", page: `../${slug}`, root: "../../" };
    case "incident":
      return { style: "../../-/", page: `../../${slug}`, root: "../../../" };
    case "root":
      return { style: "status/-/", page: `status/${slug}`, root: null };
  }
}

interface Asked {
  readonly api: Api;
  readonly call: Call;
  readonly shown: ShownPage;
  readonly from: From;
  /** Behind the addresses of the page. */
  readonly query: string;
}

function asked(
  api: Api,
  call: Call,
  slug: string,
  from: From,
  answer: (asked: Asked) => ApiResponse,
): MaybePromise<ApiResponse> {
  passGate(api, call);
  return andThen(slugOfHost(api, call), (slugHere) => {
    // Readers would take it for the page whose domain they see.
    if (slugHere !== undefined && slugHere !== slug) return nothing(call, from);
    return andThen(api.pages.of(slug), (shown) => {
      if (shown === null) return nothing(call, from);
      return andThen(entryOf(api, call, shown), (entry) => {
        if (entry === "hidden") return nothing(call, from);
        if (entry !== "open") return closed(shown, entry, from, false);
        const query = shown.page.access === "link" ? `?t=${sentToken(call.request)}` : "";
        return answer({ api, call, shown, from, query });
      });
    });
  });
}

function closed(
  { page }: ShownPage,
  entry: Exclude<Entry, "open" | "hidden">,
  from: From,
  isWrong: boolean,
): ApiResponse {
  const around = aroundOf(page.slug, from);
  const closedPage = { title: page.title, language: page.settings.language };
  const body = entry === "password" ? passwordPage(closedPage, around, isWrong) : signInPage(closedPage, around);
  return unkept(403, body, pageSecurity(page.settings.frame));
}

/** No page, or none for this reader: in his own language, because that of a page would say that there is one. */
function nothing(call: Call, from: From): ApiResponse {
  return notFound(from, wantedLanguage(call.request.acceptLanguage));
}

function notFound(from: From, language: string): ApiResponse {
  return unkept(404, missingPage(aroundOf("", from), language), pageSecurity("none"));
}

function unkept(status: number, body: string, security: readonly string[]): ApiResponse {
  return { status, headers: ["Content-Type", HTML, "Cache-Control", "no-store"], body, security };
}

/** What is kept is sent as it is: nothing is made for a request. @param isShared other sites may show it */
function answered({ shown, call }: Asked, made: Made, mediaType: string, isShared = false): ApiResponse {
  const { ifNoneMatch, acceptEncoding } = call.request;
  const form = isKnown(ifNoneMatch, made.tag) ? "known" : acceptsCoding(acceptEncoding, "gzip") ? "packed" : "plain";
  return made.answer(form, () => answerOf(shown, made, form, { mediaType, isShared }));
}

function answerOf(
  { page: { access, settings, published } }: ShownPage,
  made: Made,
  form: Form,
  { mediaType, isShared }: { readonly mediaType: string; readonly isShared: boolean },
): ApiResponse {
  const isPublic = access === "public" && published;
  const cache = isPublic ? PUBLIC_CACHE : PRIVATE_CACHE;
  const headers = ["Cache-Control", cache, "ETag", made.tag, "Vary", "Accept-Encoding"];
  if (!settings.index) headers.push("X-Robots-Tag", "noindex");
  if (isPublic && isShared) headers.push("Access-Control-Allow-Origin", "*");
  if (form !== "known") headers.push("Content-Type", mediaType);
  if (form === "packed") headers.push("Content-Encoding", "gzip");
  headers.push(...(isShared ? SHARED_SECURITY : pageSecurity(settings.frame)));
  if (form === "known") return { status: 304, headers, body: "" };
  return { status: 200, headers, body: form === "packed" ? made.packed() : made.plain };
}

function page(of: Asked): ApiResponse {
  const { shown, from, query } = of;
  const place = placeOf(shown.page.slug, from, query);
  const made = shown.text(`page ${from} ${query}`, () => statusPage(shown.view, place, BADGES[from], shown.ageMs));
  return answered(of, made, HTML);
}

/** The page at a domain of its own. @returns null where the address is none of a page */
export function pageAtDomain(api: Api, call: Call): MaybePromise<ApiResponse | null> {
  return andThen(slugOfHost(api, call), (slug) => (slug === undefined ? null : asked(api, call, slug, "root", page)));
}

/** @returns the slug of the page whose own domain was asked; undefined: none's was */
function slugOfHost(api: Api, call: Call): MaybePromise<string | undefined> {
  const domain = domainOf(call.request.host, api.config.baseUrl);
  return domain === null ? undefined : api.pages.slugAt(domain);
}

/** @returns null for our own address, for numbers and for names of one word: none of them is the domain of a page */
function domainOf(host: string, baseUrl: string | null): string | null {
  const name = host
    .replace(/:[0-9]{1,5}$/, "")
    .replace(/\.$/, "")
    .toLowerCase();
  if (!name.includes(".") || name.startsWith("[") || isIP(name) !== 0) return null;
  return baseUrl !== null && parseUrl(baseUrl)?.hostname === name ? null : name;
}

type FileName = "style.css" | "logo" | "summary.json" | keyof typeof FEEDS;

const FILES: Readonly<Record<FileName, (of: Asked) => ApiResponse>> = {
  "style.css": (of) => {
    const { page: record } = of.shown;
    return answered(
      of,
      of.shown.text("style", () => styleOf(record.settings, record.css)),
      "text/css; charset=utf-8",
    );
  },
  logo: (of) => {
    const { logo } = of.shown.page;
    if (logo === null) return notFound("file", of.shown.page.settings.language);
    const { mediaType, base64 } = logoParts(logo);
    const made = of.shown.text("logo", () => Buffer.from(base64, "base64"));
    return answered(of, made, mediaType, true);
  },
  "summary.json": (of) => {
    const { shown, api } = of;
    const badges = `${api.baseUrl()}/badge/`;
    const made = shown.text("summary", () => JSON.stringify(summaryOf(shown.view, badges, shown.ageMs)));
    return answered(of, made, JSON_TYPE, true);
  },
  "feed.atom": (of) => feed(of, "feed.atom"),
  "feed.rss": (of) => feed(of, "feed.rss"),
  "feed.json": (of) => feed(of, "feed.json"),
};

/** Feeds are read elsewhere, so their addresses are whole: those of the page's own domain where it has one. */
function feed(of: Asked, form: keyof typeof FEEDS): ApiResponse {
  const { shown, api, query } = of;
  const { slug, domains } = shown.page;
  const [domain] = domains;
  const base = domain === undefined ? api.baseUrl() : `https://${domain}`;
  const address = domain === undefined ? `${base}/status/${slug}` : `${base}/`;
  const made = shown.text(`${form} ${query}`, () =>
    feedOf(shown.view, form, address, `${base}/status/${slug}/`, query),
  );
  return answered(of, made, FEEDS[form], true);
}

function file(api: Api, call: Call): MaybePromise<ApiResponse> {
  const [slug = "", name = ""] = call.params;
  if (name === "style.css" && slug === "-") return plainStyle();
  return asked(api, call, slug, "file", (of) => {
    const found = Object.hasOwn(FILES, name) ? FILES[name as FileName] : undefined;
    return found === undefined ? notFound("file", of.shown.page.settings.language) : found(of);
  });
}

/** Of pages that are no page's: a slug has no hyphen first. */
function plainStyle(): ApiResponse {
  const headers = ["Content-Type", "text/css; charset=utf-8", "Cache-Control", "public, max-age=3600"];
  return { status: 200, headers, body: PLAIN_STYLE, security: pageSecurity("none") };
}

function incident(api: Api, call: Call): MaybePromise<ApiResponse> {
  const [slug = "", name = ""] = call.params;
  return asked(api, call, slug, "incident", (of) => {
    const { shown, query } = of;
    const found = shown.view.incidents.find((one) => one.name === name);
    if (found === undefined) return notFound("incident", shown.page.settings.language);
    const place = placeOf(slug, "incident", query);
    return answered(
      of,
      shown.text(`incident ${name} ${query}`, () => incidentPage(shown.view, found, place)),
      HTML,
    );
  });
}

async function unlock(api: Api, call: Call): Promise<ApiResponse> {
  passGate(api, call);
  const [slug = ""] = call.params;
  const slugHere = await slugOfHost(api, call);
  const shown = slugHere === undefined || slugHere === slug ? await api.pages.of(slug) : null;
  if (shown?.page.access !== "password" || !shown.page.published) return nothing(call, "page");
  if (!isOwnForm(call.request, api.config.baseUrl)) throw refusal("notFromPage");
  const limits = gatesOf(api);
  const waitS = limits.passwords.waitS(networkOf(call.clientAddress), call.nowMs);
  if (waitS > 0 || limits.trying >= PASSWORDS_AT_ONCE)
    throw refusal("tooManyPageRequests", { retryAfterS: Math.max(1, waitS) });
  limits.trying += 1;
  const isRight = await isPassword(shown.secrets, passwordIn(call.request)).finally(() => {
    limits.trying -= 1;
  });
  if (!isRight) return closed(shown, "password", "page", true);
  const untilMs = call.nowMs + UNLOCKED_MS;
  const isRoot = slugHere === slug;
  const isSecure = api.config.baseUrl?.startsWith("https:") === true;
  // Without a path it is for what is beside the page, wherever a proxy has it (RFC 6265 section 5.1.4).
  const cookie = `${cookieName(slug)}=${unlockedCookie(shown.secrets, untilMs)}${isRoot ? "; Path=/" : ""}${isSecure ? "; Secure" : ""}; HttpOnly; SameSite=Lax; Max-Age=${Math.floor(UNLOCKED_MS / 1_000)}`;
  const headers = ["Location", isRoot ? "/" : slug, "Set-Cookie", cookie, "Cache-Control", "no-store"];
  return { status: 303, headers, body: "", security: pageSecurity("none") };
}

/** What is beside the page, such as its style, is named from its address without the slash. */
function withoutSlash(_api: Api, { params: [slug = "status"], request: { query } }: Call): ApiResponse {
  const address = `../${encodeURIComponent(slug)}${query === "" ? "" : `?${query}`}`;
  return { status: 308, headers: ["Location", address], body: "", security: pageSecurity("none") };
}

function passwordIn({ body }: ApiRequest): string {
  if (body === null || body === "too-large" || body.byteLength > LONGEST_FORM) return "";
  return new URLSearchParams(Buffer.from(body).toString("utf8")).get("password") ?? "";
}

async function index(api: Api, call: Call): Promise<ApiResponse> {
  passGate(api, call);
  const isOwnDomain = (await slugOfHost(api, call)) !== undefined;
  if (api.config.hasStatusIndex !== true || isOwnDomain) throw refusal("notFound");
  const body = indexPage(await api.pages.list(), wantedLanguage(call.request.acceptLanguage));
  const headers = ["Content-Type", HTML, "Cache-Control", PUBLIC_CACHE, "Vary", "Accept-Language"];
  return { status: 200, headers, body, security: pageSecurity("none") };
}

const base = { atRoot: true, group: "Status pages", scope: "public", hidden: true } as const;
const slugParams = { slug: z.string() };

export const statuses: readonly Route[] = [
  {
    ...base,
    method: "GET",
    path: "/status",
    operationId: "listPublicPages",
    summary: "Public status pages that want to be listed",
    responses: { 200: "text/html" },
    handle: index,
  },
  {
    ...base,
    method: "GET",
    path: "/status/",
    operationId: "leadToPublicPages",
    summary: "Public status pages, asked for with a slash at the end",
    responses: { 308: "" },
    handle: withoutSlash,
  },
  {
    ...base,
    method: "GET",
    path: "/status/{slug}",
    operationId: "readPublicPage",
    summary: "A status page",
    params: slugParams,
    responses: { 200: "text/html", 304: "" },
    handle: (api: Api, call: Call) => asked(api, call, call.params[0] ?? "", "page", page),
  },
  {
    ...base,
    method: "POST",
    path: "/status/{slug}",
    operationId: "unlockPublicPage",
    audit: null,
    summary: "The password of a status page",
    params: slugParams,
    responses: { 303: "" },
    handle: unlock,
  },
  {
    ...base,
    method: "GET",
    path: "/status/{slug}/",
    operationId: "leadToPublicPage",
    summary: "A status page, asked for with a slash at its end",
    params: slugParams,
    responses: { 308: "" },
    handle: withoutSlash,
  },
  {
    ...base,
    method: "GET",
    path: "/status/{slug}/{file}",
    operationId: "readPublicPageFile",
    summary: "The style, the logo, a feed or the summary of a status page",
    params: { ...slugParams, file: z.string() },
    responses: { 200: "application/octet-stream", 304: "" },
    handle: file,
  },
  {
    ...base,
    method: "GET",
    path: "/status/{slug}/incidents/{incident}",
    operationId: "readPublicIncident",
    summary: "An incident on a status page",
    params: { ...slugParams, incident: z.string() },
    responses: { 200: "text/html", 304: "" },
    handle: incident,
  },
];
