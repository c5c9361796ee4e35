/** A provider's list: fetched under one client name after the other until one yields servers, parsed, grouped. */

import { plainText } from "../net/classify.ts";
import type { Transport } from "../transport/transport.ts";
import { entriesOf } from "./body.ts";
import { BodyError } from "./body-error.ts";
import { FetchError, type Fetched, fetchBody } from "./fetch.ts";
import { listServers, type ServerList } from "./list.ts";

/**
 * Panels choose the format by the client's name. The first is answered with links nearly everywhere, which say most; the others are for
 * those that have only a format of their own (Marzban, remnawave, v2board).
 */
export const CLIENT_NAMES = ["v2rayN/7.14.3", "clash.meta/v1.19.13", "sing-box 1.12.12"] as const;

/** What the last good answer was; asked for under the same name again, and only when it has changed. */
export interface KnownAnswer {
  readonly agent: string;
  readonly etag: string | null;
}

type AnswerOf<List> =
  | { readonly kind: "list"; readonly list: List; readonly known: KnownAnswer }
  | { readonly kind: "unchanged" };
export type ProviderAnswer = AnswerOf<ServerList>;

export interface ByNameOrder {
  readonly url: string;
  readonly known: KnownAnswer | null;
  readonly signal?: AbortSignal;
}

export interface ProviderOrder extends ByNameOrder {
  /** Lets others have the thread. */
  readonly breathe: () => Promise<void>;
  /** Reads when it is its turn; absent: at once. */
  readonly inTurn?: <T>(work: () => Promise<T>) => Promise<T>;
}

/** There is no list; the message is a whole sentence for people. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  /** True: the provider answered so. False: no answer came, which may be a fault of our own network. */
  readonly hasAnswered: boolean;

  constructor(message: string, hasAnswered = true) {
    super(message);
    this.hasAnswered = hasAnswered;
  }
}

/** @throws ProviderError */
export function askProvider(transport: Transport, order: ProviderOrder): Promise<ProviderAnswer> {
  const { breathe, inTurn = (work) => work() } = order;
  return askByName(transport, order, async (text) => {
    const list = await inTurn(() => listServers(entriesOf(text), breathe));
    return list.servers.length === 0 ? nothingUsable(list) : list;
  });
}

/**
 * Asks under one name after the other until an answer yields something.
 * @param read makes something of a body, or says in a sentence why that cannot be; it may throw BodyError
 * @throws ProviderError
 */
export async function askByName<List extends object>(
  transport: Transport,
  order: ByNameOrder,
  read: (text: string) => Promise<List | string>,
): Promise<AnswerOf<List>> {
  let reason: string | undefined;
  for (const agent of namesFrom(order.known)) {
    const answer = await tryName(transport, order, agent, read);
    if (typeof answer !== "string") return answer;
    // Under its usual name a provider says best what is wrong.
    reason ??= answer;
  }
  throw new ProviderError(reason ?? "The list is empty.");
}

function namesFrom(known: KnownAnswer | null): readonly string[] {
  return known === null ? CLIENT_NAMES : [known.agent, ...CLIENT_NAMES.filter((name) => name !== known.agent)];
}

/** @returns why it yields nothing, when another name may yield more. @throws ProviderError */
async function tryName<List extends object>(
  transport: Transport,
  { url, known, signal }: ByNameOrder,
  agent: string,
  read: (text: string) => Promise<List | string>,
): Promise<AnswerOf<List> | string> {
  const etag = agent === known?.agent ? known.etag : null;
  let fetched: Fetched;
  try {
    fetched = await fetchBody(transport, { url, agent, etag, ...(signal !== undefined && { signal }) });
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    if (error.hasAnswered) return error.message;
    throw new ProviderError(error.message, false);
  }
  if (fetched.kind === "unchanged") return fetched;
  try {
    const list = await read(fetched.text);
    return typeof list === "string" ? list : { kind: "list", list, known: { agent, etag: fetched.etag } };
  } catch (error) {
    if (error instanceof BodyError) return error.message;
    throw error;
  }
}

function nothingUsable({ messages, bad, unsupported }: ServerList): string {
  const others = Object.values(unsupported).reduce((sum, count) => sum + count, 0);
  if (bad.length === 0 && others > 0)
    return `The list has no server of a kind that is supported (${Object.keys(unsupported).join(", ")}).`;
  return whyNothing(bad, messages[0] ?? null);
}

/** @param message the provider's first */
export function whyNothing(
  [first]: readonly { readonly at: number | string; readonly reason: string }[],
  message: string | null,
): string {
  if (first !== undefined) return `No entry of the list can be read (entry ${first.at}: ${first.reason}).`;
  return message === null ? "The list is empty." : `The list has no servers; the provider says: ${plainText(message)}`;
}
