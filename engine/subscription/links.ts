/** A list of any format as share links, in its own order: for checks that keep nothing of it. */
import { writeLink } from "../protocols/share-link/write-link.ts";
import type { Transport } from "../transport/transport.ts";
import { entriesOf } from "./body.ts";
import { BodyError } from "./body-error.ts";
import { askProvider, ProviderError } from "./provider.ts";

/** Entries read before others may have the thread: some milliseconds of work. */
const SLICE = 100;
/** Reasons that are kept; further ones are only counted. */
const MOST_REASONS = 100;

export interface ListedLinks {
  readonly links: readonly ListedLink[];
  readonly bad: readonly { readonly at: number; readonly reason: string }[];
  /** All entries that cannot be read. */
  readonly badCount: number;
}

export interface ListedLink {
  /** Number of the line or entry, from 1. */
  readonly at: number;
  readonly link: string;
}

/** There is no list; the sentence is for people, and has nothing of the address but its host. */
export interface NoLinks {
  readonly fault: string;
}

/** @param breathe lets others have the thread */
export async function linksOf(text: string, breathe: () => Promise<void>): Promise<ListedLinks | NoLinks> {
  const links: ListedLink[] = [];
  const bad: { at: number; reason: string }[] = [];
  let [taken, badCount] = [0, 0];
  const refuse = (at: number, reason: string): void => {
    if (++badCount <= MOST_REASONS) bad.push({ at, reason });
  };
  try {
    for (const entry of entriesOf(text)) {
      if (++taken % SLICE === 0) await breathe();
      if (entry.kind === "config") links.push({ at: entry.at, link: writeLink(entry.read) });
      else if (entry.kind === "bad") refuse(entry.at, entry.reason);
      else if (entry.kind === "unsupported") refuse(entry.at, `${entry.what} is not supported`);
    }
  } catch (error) {
    if (error instanceof BodyError) return { fault: error.message };
    throw error;
  }
  return { links, bad, badCount };
}

/** @param order `breathe` lets others have the thread; the signal ends it early */
export async function fetchLinks(
  transport: Transport,
  order: { readonly url: string; readonly signal: AbortSignal; readonly breathe: () => Promise<void> },
): Promise<ListedLinks | NoLinks> {
  try {
    const answer = await askProvider(transport, { ...order, known: null });
    // Nothing is known of the list, so that no answer says that it is unchanged.
    if (answer.kind !== "list") return { fault: "The list is empty." };
    const { servers, bad, badCount, unsupported } = answer.list;
    const links: ListedLink[] = [];
    for (const { config, names } of servers.flatMap(({ configs }) => configs)) {
      if (links.length % SLICE === SLICE - 1) await order.breathe();
      links.push({ at: links.length + 1, link: writeLink({ config, name: names[0] ?? null }) });
    }
    const others = Object.values(unsupported).reduce((sum, count) => sum + count, 0);
    return { links, bad: bad.slice(0, MOST_REASONS), badCount: badCount + others };
  } catch (error) {
    if (error instanceof ProviderError) return { fault: error.message };
    throw error;
  }
}
