/**
 * `/ack/{token}`: acknowledging out of a message, without signing in. The link of a message is looked at by services that show previews, so that
 * GET changes nothing: it shows one page with one button. The page is whole without script and style.
 */
import type { Actor } from "../../model/actor.ts";
import { type Acknowledging, readAcknowledgeToken } from "../../model/alerting-acknowledge.ts";
import { StoreError } from "../../store/errors.ts";
import type { AcknowledgeableGroup } from "../../store/sql/alerts/port.ts";
import { networkOf } from "../address.ts";
import type { Api } from "../api.ts";
import { BUTTON_PAGE, buttonPage, textPage } from "../button-page.ts";
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
    group.incidents.length === 0
      ? answered("Nothing is left to acknowledge.")
      : buttonPage("Acknowledge?", named(group), "Acknowledge"),
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
    if (!(await api.state.counters.takeFrom(`ack ${networkOf(call.clientAddress)}`, A_MINUTE, MINUTE_MS, call.nowMs)))
      return textPage(429, "Too many requests", "Wait a minute and try again.");
    const read: Acknowledging | undefined = readAcknowledgeToken(api.sealing, call.params[0] ?? "", call.nowMs);
    const group = read && (await api.controlPlane.alerts.acknowledgeable(read.groupId, read.channelId));
    if (group === undefined) return textPage(404, "This link is not good", "It is too old, or is not whole.");
    return await go(group);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    api.log.warn({ reason: error.message }, "an acknowledgement could not be stored");
    return textPage(503, "Try again in a few seconds", "The store is away.");
  }
}

function answered(text: string): ApiResponse {
  return textPage(200, "Sonde", text);
}

function named({ incidents }: AcknowledgeableGroup): string {
  const names = incidents.slice(0, MOST_NAMES).map(({ name }) => name);
  const more = incidents.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const base = { ...BUTTON_PAGE, path: "/ack/{token}" } as const;

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
