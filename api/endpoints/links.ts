/**
 * Share links of a subscription: the one place where secrets that were given to the service leave it. So it exists only where the operator
 * said so (SONDE_REVEAL_LINKS), for Owners and Admins, and each use is in the audit log (docs/api-contract.md#links).
 */
import { z } from "zod";
import { configCell } from "../../store/sealed-cells.ts";
import type { SealedLink } from "../../store/sql/monitors/imports-port.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readOptionalObject } from "../body.ts";
import { refusal } from "../errors.ts";
import type { ApiResponse } from "../http.ts";
import { managesPeople } from "../reach.ts";
import { type ProjectCall, pathId, type Route } from "../route.ts";
import { byLatency, rowsOf, statusOf } from "./configs.ts";
import { subscriptionIdParams } from "./params.ts";

/** A subscription has no more. */
const MOST_LINKS = 10_000;
const ONLY = ["healthy", "all"] as const;
const FORMATS = ["plain", "base64"] as const;

const body = z
  .object({
    only: z.enum(ONLY).optional().describe("Default: healthy"),
    limit: z.int().min(1).max(MOST_LINKS).optional().describe("The fastest so many. Default: all"),
    format: z
      .enum(FORMATS)
      .optional()
      .describe("One a line, or all of it in base64, as clients take lists. Default: plain"),
  })
  .meta({ id: "RevealLinks", examples: [{ only: "healthy", limit: 10 }] });

async function reveal(api: Api, call: ProjectCall): Promise<ApiResponse> {
  if (!managesPeople(call.role)) throw refusal("linksForbidden");
  if (api.config.revealsLinks !== true) throw refusal("linksOff");
  const id = pathId(call, "subscription", "invalidSubscriptionId");
  if ((await api.controlPlane.subscriptions.find(call.project.id, id)) === undefined)
    throw refusal("subscriptionNotFound");
  const { only, limit, format } = readBody(readOptionalObject(call.request));
  const rows = (await rowsOf(api, call.project.id, id)).filter((row) => only === "all" || statusOf(row) === "healthy");
  const wanted = rows.toSorted(byLatency).slice(0, limit);
  const sealed = await api.controlPlane.imports.links(wanted.map(({ config }) => config.id));
  const links = wanted.flatMap(({ config }) => linkOf(api, call.project.id, config.tag, sealed.get(config.id)));
  const text = links.map((link) => `${link}\n`).join("");
  const sent = format === "plain" ? text : Buffer.from(text).toString("base64");
  const headers = ["Content-Type", "text/plain; charset=utf-8"];
  // As bytes: what is added to the text of other answers has no place in it.
  return { status: 200, headers, body: Buffer.from(sent), holdsSecrets: true };
}

/** A config that was taken out meanwhile has none. */
function linkOf(api: Api, projectId: number, tag: string, found: SealedLink | undefined): readonly string[] {
  if (found === undefined) return [];
  const opened: unknown = JSON.parse(api.sealing.open(configCell(projectId, found.identity), found.sealed));
  const url = typeof opened === "object" && opened !== null ? (opened as JsonObject).url : undefined;
  if (typeof url !== "string") return [];
  // The name of the older form of VMess links is inside them.
  return [url.startsWith("vmess:") || url.includes("#") ? url : `${url}#${encodeURIComponent(tag.toWellFormed())}`];
}

/** @throws 400 */
function readBody(sent: JsonObject) {
  const [limit, onlyWord, formatWord] = [
    fieldOf(sent, "limit") ?? MOST_LINKS,
    fieldOf(sent, "only") ?? "healthy",
    fieldOf(sent, "format") ?? "plain",
  ];
  const only = ONLY.find((word) => word === onlyWord);
  const format = FORMATS.find((word) => word === formatWord);
  const isFit = Number.isInteger(limit) && Number(limit) >= 1 && Number(limit) <= MOST_LINKS;
  if (only === undefined || format === undefined || !isFit) throw refusal("linksInvalid");
  return { only, format, limit: Number(limit) };
}

export const revealedLinks: readonly Route[] = [
  {
    method: "POST",
    path: "/subscriptions/{id}/links",
    operationId: "revealLinks",
    audit: {
      what: "subscription.revealed",
      detail: ({ sent: { only } }) => ({ only: only === "all" ? "all" : "healthy" }),
      nameOf: async (api, call) =>
        "project" in call
          ? ((await api.controlPlane.subscriptions.find(call.project.id, Number(call.params[0]?.replace(/^sub_/, ""))))
              ?.name ?? null)
          : null,
    },
    group: "Subscriptions",
    summary: "The share links of a subscription, the fastest first",
    description:
      "An addition of ours. For Owners and Admins, where the operator has set SONDE_REVEAL_LINKS. It hands out secrets; each use is in the audit log.",
    scope: "project",
    params: subscriptionIdParams,
    body: { schema: body, required: false },
    responses: { 200: "text/plain; charset=utf-8" },
    refusals: ["linksForbidden", "linksOff", "invalidSubscriptionId", "subscriptionNotFound", "linksInvalid"],
    handle: reveal,
  },
];
