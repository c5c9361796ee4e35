/** `/confirm/{token}`: the reader of a mail address says that messages are wanted there, without signing in. GET changes nothing: it shows one button. */
import { awaitsConfirmation } from "../../model/channel.ts";
import { StoreError } from "../../store/errors.ts";
import type { OpenableChannel } from "../../store/sql/alerts/channels-port.ts";
import { networkOf } from "../address.ts";
import type { Api } from "../api.ts";
import { BUTTON_PAGE, buttonPage, textPage } from "../button-page.ts";
import type { ApiResponse } from "../http.ts";
import { addressesOf, askToConfirm, confirmingBy, digestOf, nextPlace } from "../mail-confirmation.ts";
import type { Call, Route } from "../route.ts";

/** Requests from one address; our choice: a person has one button. */
const A_MINUTE = 60;
const MINUTE_MS = 60_000;
const CONFIRMED = "Confirmed. Messages will come to this address.";

interface Confirmable {
  readonly channel: OpenableChannel;
  readonly place: number;
  /** Of the address that is asked next; null: all have confirmed then. */
  readonly next: number | null;
}

async function show(api: Api, call: Call): Promise<ApiResponse> {
  return guarded(api, call, async ({ channel, place }) =>
    awaitsConfirmation(channel)
      ? buttonPage("Do you want alerts here?", addressesOf(channel.settings)[place] ?? "", "Yes, send them")
      : textPage(200, "Sonde", CONFIRMED),
  );
}

async function confirm(api: Api, call: Call): Promise<ApiResponse> {
  return guarded(api, call, async ({ channel, next }) => {
    if (!awaitsConfirmation(channel)) return textPage(200, "Sonde", CONFIRMED);
    if (next !== null) {
      const fault = await askToConfirm(api, channel, next, call.nowMs);
      if (fault === null) return textPage(200, "Sonde", "Confirmed. Another address of the channel is asked now.");
      return textPage(200, "Sonde", `Confirmed. The next address of the channel could not be asked: ${fault}.`);
    }
    const { id, projectId } = channel;
    const digest = digestOf(channel);
    await api.controlPlane.channels.update(projectId, id, call.nowMs, (now) =>
      digestOf(now) === digest ? { verifiedAtMs: call.nowMs } : {},
    );
    return textPage(200, "Sonde", CONFIRMED);
  });
}

async function guarded(api: Api, call: Call, go: (found: Confirmable) => Promise<ApiResponse>): Promise<ApiResponse> {
  try {
    if (
      !(await api.state.counters.takeFrom(`confirm ${networkOf(call.clientAddress)}`, A_MINUTE, MINUTE_MS, call.nowMs))
    )
      return textPage(429, "Too many requests", "Wait a minute and try again.");
    const confirming = confirmingBy(api.sealing, call.params[0] ?? "", call.nowMs);
    const [channel] = confirming === undefined ? [] : await api.controlPlane.channels.openable([confirming.channelId]);
    const next = confirming === undefined || channel === undefined ? undefined : nextPlace(confirming, channel);
    if (confirming === undefined || channel === undefined || next === undefined)
      return textPage(
        404,
        "This link is not good",
        "It is too old, is not whole, or the channel has other addresses now.",
      );
    return await go({ channel, place: confirming.place, next });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    api.log.warn({ reason: error.message }, "a confirmation could not be stored");
    return textPage(503, "Try again in a few seconds", "The store is away.");
  }
}

const base = { ...BUTTON_PAGE, path: "/confirm/{token}" } as const;

export const confirming: readonly Route[] = [
  {
    ...base,
    method: "GET",
    operationId: "showConfirming",
    summary: "A page with one button, for the link of a mail that asks an address",
    handle: show,
  },
  {
    ...base,
    method: "POST",
    operationId: "confirmAddress",
    audit: null,
    summary: "Confirms that messages are wanted at an address",
    handle: confirm,
  },
];
