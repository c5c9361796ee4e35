/**
 * `/ack/{token}`: acknowledging out of a message, without signing in. The link of a message is looked at by services that show previews, so that
 * GET changes nothing: it shows one page with one button. The page is whole without script and style.
 */
import { z } from "zod";
import type { Actor } from "../../model/actor.ts";
import { type Acknowledging, readAcknowledgeToken } from "../../model/alerting-acknowledge.ts";
import { StoreError } from "../../store/errors.ts";
import type { AcknowledgeableGroup } from "../../store/sql/alerts/port.ts";
import type { Api } from "../api.ts";
import type { ApiResponse } from "../http.ts";
import { tellTurns } from "../live/tell.ts";
import type { Call, Route } from "../route.ts";

/** Requests from one address; our choice: a person has one button, and previews of a few services. */
const A_MINUTE = 60;
const MINUTE_MS = 60_000;
/** Names on the page; of the others the number is said. */
const MOST_NAMES = 10;

async function show(api: Api, call: Call): Promise<ApiResponse> {
  return guarded(api, call, (group) =>
    group.incidents.length === 0 ? answered("Nothing is left to acknowledge.") : page(200, "Acknowledge?", ask(group)),
  );
}

async function acknowledge(api: Api, call: Call): Promise<ApiResponse> {
  return guarded(api, call, async (group) => {
    const ids = group.incidents.map(({ id }) => id);
    if (ids.length === 0) return answered("Nothing is left to acknowledge.");
    const { incidents } = api.controlPlane;
    const done = await incidents.acknowledgeAll(group.projectId, ids, call.nowMs, actorOf(group), null);
    const turns = done.acknowledged.map(({ id, monitorId }) => ({
      monitorId,
      incidentId: id,
      what: "acknowledged" as const,
    }));
    tellTurns(api, group.projectId, turns);
    return answered(`Acknowledged: ${named(group)}.`);
  });
}

/** Who held the message is not known: the timeline says how it came. */
function actorOf({ channel }: AcknowledgeableGroup): Actor {
  return {
    type: "system",
    id: null,
    name: `from a message by ${channel.kind} (${channel.name})`,
    via: "system",
    keyId: null,
  };
}

async function guarded(
  api: Api,
  call: Call,
  go: (group: AcknowledgeableGroup) => ApiResponse | Promise<ApiResponse>,
): Promise<ApiResponse> {
  try {
    if (!(await api.state.counters.takeFrom(`ack:${call.clientAddress}`, A_MINUTE, MINUTE_MS, call.nowMs)))
      return page(429, "Too many requests", "<p>Wait a minute and try again.</p>");
    const read: Acknowledging | undefined = readAcknowledgeToken(api.sealing, call.params[0] ?? "", call.nowMs);
    const group = read && (await api.controlPlane.alerts.acknowledgeable(read.groupId, read.channelId));
    if (group === undefined) return page(404, "This link is not good", "<p>It is too old, or is not whole.</p>");
    return await go(group);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    api.log.warn({ reason: error.message }, "an acknowledgement could not be stored");
    return page(503, "Try again in a few seconds", "<p>The store is away.</p>");
  }
}

function answered(text: string): ApiResponse {
  return page(200, "Sonde", `<p>${escaped(text)}</p>`);
}

function ask(group: AcknowledgeableGroup): string {
  const what = `<p>${escaped(named(group))}</p>`;
  // Without an address it goes to where the page is, also below a proxy's path.
  return `${what}<form method="post"><button type="submit">Acknowledge</button></form>`;
}

function named({ incidents }: AcknowledgeableGroup): string {
  const names = incidents.slice(0, MOST_NAMES).map(({ name }) => name);
  const more = incidents.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

function page(status: number, title: string, content: string): ApiResponse {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">`;
  const body = `<!doctype html><html lang="en"><head>${head}<title>${escaped(title)}</title></head><body><main><h1>${escaped(title)}</h1>${content}</main></body></html>`;
  return { status, headers: ["Content-Type", "text/html; charset=utf-8", "Cache-Control", "no-store"], body };
}

const base = {
  path: "/ack/{token}",
  atRoot: true,
  group: "Alerts",
  scope: "public",
  hidden: true,
  params: { token: z.string() },
  responses: { 200: "text/html", 404: "text/html", 429: "text/html", 503: "text/html" },
} as const;

export const acknowledging: readonly Route[] = [
  {
    ...base,
    method: "GET",
    operationId: "showAcknowledging",
    summary: "A page with one button, for the link of a message",
    handle: show,
  },
  {
    ...base,
    method: "POST",
    operationId: "acknowledgeByLink",
    audit: null,
    summary: "Acknowledges what a message was about",
    handle: acknowledge,
  },
];
