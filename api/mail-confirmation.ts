/**
 * Confirming mail addresses: nothing is sent to an address but one mail with a link, until its reader has opened the link and pressed the button. The
 * addresses of a channel are asked one after the other: each link is sealed with the service's key and good for one place of the list, so the last one
 * shows that all have confirmed.
 */
import { createHash } from "node:crypto";
import type { Message } from "../model/alert-message.ts";
import { awaitsConfirmation } from "../model/channel.ts";
import { formatId } from "../model/ids.ts";
import { openLink, sealLink } from "../model/sealed-link.ts";
import { formatIso } from "../model/time.ts";
import { SEALED_CELLS } from "../store/sealed-cells.ts";
import type { OpenableChannel } from "../store/sql/alerts/channels-port.ts";
import type { Api } from "./api.ts";

const DAY_MS = 24 * 3_600_000;
/** Of an address, mails that were sent in a day; of a project, attempts. Our choice: enough for a person who mistypes, too few to annoy one who did not ask. */
const MAILS_A_DAY = { project: 40, address: 3 } as const;
/** One mail, ms. */
const MAIL_MS = 20_000;
const LINK = { purpose: "confirm-mail", form: /^(\d{1,16})\.(\d{1,3})\.([\w-]{22})$/ } as const;
interface Confirming {
  readonly channelId: number;
  /** Place in the list of the address that confirms. */
  readonly place: number;
  /** Of the list and the way to it as they were. */
  readonly digest: string;
}

/** In their order, each once. */
export function addressesOf(settings: Readonly<Record<string, unknown>>): readonly string[] {
  const lists = [settings.to, settings.cc].filter((list) => Array.isArray(list)) as readonly (readonly unknown[])[];
  return [...new Set(lists.flat().map(String))];
}

/** Where its mails go, and by whom. */
export type Addressed = Pick<OpenableChannel, "settings" | "secretNames">;

/** The operator of a mail server can read links in mails that pass it, so a confirmation by such a link proves nothing about mails through the service's server. */
function hasOwnServer({ secretNames }: Pick<Addressed, "secretNames">): boolean {
  return secretNames.includes("smtp_url");
}

/** Whether who confirmed the first has confirmed the second: everyone of it is in the first, and it goes by no more trusted server. */
export function staysConfirmed(before: Addressed, after: Addressed): boolean {
  const known = new Set(addressesOf(before.settings));
  const isAsTrusted = hasOwnServer(after) || !hasOwnServer(before);
  return isAsTrusted && addressesOf(after.settings).every((address) => known.has(address));
}

/** Of what a link confirms. */
export function digestOf(channel: Addressed): string {
  const words = [...(hasOwnServer(channel) ? ["by another server"] : []), ...addressesOf(channel.settings)];
  return createHash("sha256").update(JSON.stringify(words)).digest("base64url").slice(0, 22);
}

/** @returns undefined for what we did not make, and for what is too old */
export function confirmingBy(
  sealing: { open(where: string, sealed: string): string },
  token: string,
  nowMs: number,
): Confirming | undefined {
  const [channelId, place, digest] = openLink(sealing, LINK, token, nowMs) ?? [];
  return digest === undefined ? undefined : { channelId: Number(channelId), place: Number(place), digest };
}

/** @returns the next address that is to be asked; null: all have confirmed; undefined: the link is for another list */
export function nextPlace({ place, digest }: Confirming, channel: Addressed): number | null | undefined {
  const addresses = addressesOf(channel.settings);
  if (digest !== digestOf(channel) || place >= addresses.length) return undefined;
  return place + 1 < addresses.length ? place + 1 : null;
}

/** Sends the mail with the link to one address. @returns why it was not sent; null: it was */
export async function askToConfirm(
  api: Api,
  channel: OpenableChannel,
  place: number,
  nowMs: number,
): Promise<string | null> {
  const addresses = addressesOf(channel.settings);
  const address = addresses[place];
  if (address === undefined) return "the channel has no address";
  const { counters } = api.state;
  const byAddress = `confirm:${createHash("sha256").update(address.toLowerCase()).digest("base64url")}`;
  const mayTry = await counters.takeFrom(`confirm:${channel.projectId}`, MAILS_A_DAY.project, DAY_MS, nowMs);
  const { ticket } = mayTry
    ? await counters.takeSliding(byAddress, MAILS_A_DAY.address, DAY_MS, nowMs)
    : { ticket: null };
  if (ticket === null) return "too many mails were sent to confirm addresses: try again tomorrow";
  const token = sealLink(api.sealing, LINK.purpose, `${channel.id}.${place}.${digestOf(channel)}`, nowMs);
  const link = `${api.baseUrl()}/confirm/${token}`;
  const settings = { ...channel.settings, ...secretsOf(api, channel), to: [address], cc: [] };
  const signal = AbortSignal.any([api.closing, AbortSignal.timeout(MAIL_MS)]);
  const { id, projectId } = channel;
  const context = { notificationId: `confirm-${id}-${nowMs}`, nowMs, previous: null, projectId };
  const outcome = await api.sendToChannel(
    { kind: channel.kind, settings },
    messageOf(channel, link, nowMs),
    context,
    signal,
  );
  if (outcome.delivered) return null;
  // Who finds out how to reach a mail server needs more attempts than an address bears mails.
  await counters.giveBack(byAddress, ticket);
  return outcome.error;
}

function secretsOf({ sealing }: Api, { id, sealed }: OpenableChannel): Readonly<Record<string, unknown>> {
  if (sealed === null) return {};
  return JSON.parse(sealing.open(SEALED_CELLS.channel(id), sealed)) as Readonly<Record<string, unknown>>;
}

/** The same beside an answer that does not wait for it: what comes of it is in the log, and a test of the channel asks again. */
export function askMeanwhile(api: Api, projectId: number, ids: readonly number[], nowMs: number): void {
  const ask = async (): Promise<void> => {
    for (const channel of await api.controlPlane.channels.openable(ids)) {
      if (channel.projectId !== projectId || !channel.active || !awaitsConfirmation(channel)) continue;
      const fault = await askToConfirm(api, channel, 0, nowMs);
      if (fault !== null) api.log.warn({ channelId: channel.id, reason: fault }, "an address is not asked to confirm");
    }
  };
  ask().catch((error: unknown) => api.log.warn({ reason: String(error) }, "addresses are not asked to confirm"));
}

/** The maker of the channel chooses no word of it: it goes to people who did not ask for it. */
function messageOf({ id }: OpenableChannel, link: string, nowMs: number): Message {
  return {
    reason: "test",
    severity: "info",
    link,
    items: [],
    more: 0,
    acknowledge: null,
    title: "Do you want alerts at this address?",
    summary:
      "Open the link to get messages of Sonde here. If you do not expect this mail, do nothing: you get no other.",
    facts: [],
    groupKey: `confirm ${formatId("channel", id)} ${nowMs}`,
    at: formatIso(nowMs),
  };
}
