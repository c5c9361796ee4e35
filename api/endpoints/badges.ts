/** Badges of status pages, for readme files and sites of others (docs/use/status-pages.md#badges). */
import { z } from "zod";
import type { Api } from "../api.ts";
import { badRequest, refusal } from "../errors.ts";
import type { ApiResponse } from "../http.ts";
import { isKnown } from "../listed.ts";
import {
  BADGE_STYLES,
  type BadgeKind,
  type BadgeStyle,
  badgeImages,
  badgeJson,
  badgeText,
  subjectOf,
  uptimeOver,
} from "../pages/badges.ts";
import { PUBLIC_CACHE, SHARED_SECURITY } from "../pages/headers.ts";
import { BADGE_NAME_LENGTH } from "../pages/secrets.ts";
import { wordsIn } from "../pages/words.ts";
import type { Call, Route } from "../route.ts";
import { passGate } from "./status.ts";

const TOKEN = /^[\w-]{28}$/;
const FILE = /^(status|uptime|latency|certificate)\.(svg|json)$/;
const SVG = "image/svg+xml; charset=utf-8";

async function badge(api: Api, call: Call): Promise<ApiResponse> {
  passGate(api, call);
  const [token = "", file = ""] = call.params;
  const [, kind, form] = FILE.exec(file) ?? [];
  if (!TOKEN.test(token) || kind === undefined) throw refusal("notFound");
  const shown = await api.pages.ofBadge(token.slice(0, BADGE_NAME_LENGTH));
  // Who has no cookie of the page has no badge of it either.
  const isOpen = shown?.page.access === "public" || shown?.page.access === "link";
  const subject = isOpen ? subjectOf(shown.view, token) : undefined;
  if (!isOpen || subject === undefined) throw refusal("notFound");
  const { days, label, style } = readBadgeQuery(call.request.query, shown.page.settings.days);
  const key = `badge ${token} ${file} ${days} ${style} ${label}`;
  const drawn = form === "json" ? badgeJson : await badgeImages();
  const made = shown.text(key, () => {
    const uptime = shown.page.settings.show.uptime ? uptimeOver(subject, days, shown.view.atMs) : null;
    const words = wordsIn(shown.page.settings.language);
    return drawn(badgeText({ kind: kind as BadgeKind, subject, uptime }, words, label), style);
  });
  const headers = ["Cache-Control", PUBLIC_CACHE, "ETag", made.tag, "Access-Control-Allow-Origin", "*"];
  if (isKnown(call.request.ifNoneMatch, made.tag)) return { status: 304, headers, body: "", security: SHARED_SECURITY };
  headers.push("Content-Type", form === "json" ? "application/json" : SVG);
  return { status: 200, headers, body: made.plain, security: SHARED_SECURITY };
}

/** @throws 400 */
function readBadgeQuery(query: string, mostDays: number) {
  const sent = new URLSearchParams(query);
  const text = sent.get("days") ?? "";
  const days = text === "" ? mostDays : /^[0-9]{1,2}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > mostDays)
    throw badRequest(`days must be a whole number from 1 to ${mostDays}: so many does the page show.`);
  const style = BADGE_STYLES.find((one) => one === (sent.get("style") ?? "flat"));
  if (style === undefined) throw badRequest(`style must be ${BADGE_STYLES.join(", ")}.`);
  const label = (sent.get("label") ?? "").slice(0, 200);
  return { days, style: style satisfies BadgeStyle, label };
}

export const badges: readonly Route[] = [
  {
    method: "GET",
    atRoot: true,
    path: "/badge/{token}/{file}",
    operationId: "readBadge",
    group: "Status pages",
    scope: "public",
    hidden: true,
    summary: "A badge of a status page or of one of its lines",
    params: { token: z.string(), file: z.string() },
    responses: { 200: "image/svg+xml", 304: "" },
    handle: badge,
  },
];
