/** A list of any format as share links, in its own order: for checks that keep nothing of it. Pure. */
import { writeLink } from "../protocols/share-link/write-link.ts";
import { entriesOf } from "./body.ts";
import { BodyError } from "./body-error.ts";

/** Reasons that are kept; further ones are only counted. */
const MOST_REASONS = 100;

export interface ListedLinks {
  readonly links: readonly ListedLink[];
  readonly bad: readonly { readonly at: number; readonly reason: string }[];
  /** All entries that cannot be read. */
  readonly badCount: number;
  /** What the provider says in the first entry that is no server. */
  readonly message: string | null;
}

export interface ListedLink {
  /** Number of the line or entry, from 1. */
  readonly at: number;
  readonly link: string;
}

/** There is no list; the sentence is for people. */
export interface NoLinks {
  readonly fault: string;
}

/**
 * A step for each entry. Of a configuration that is there twice the first is listed.
 * @param most links; reading ends with one more, which shows that there are more
 */
export function* linkSteps(text: string, most: number): Generator<void, ListedLinks | NoLinks> {
  const links: ListedLink[] = [];
  const bad: { at: number; reason: string }[] = [];
  const known = new Set<string>();
  let badCount = 0;
  let message: string | null = null;
  const refuse = (at: number, reason: string): void => {
    if (++badCount <= MOST_REASONS) bad.push({ at, reason });
  };
  try {
    for (const entry of entriesOf(text)) {
      if (entry.kind === "config") {
        const identity = writeLink({ config: entry.read.config, name: null });
        if (!known.has(identity)) links.push({ at: entry.at, link: writeLink(entry.read) });
        known.add(identity);
      } else if (entry.kind === "bad") refuse(entry.at, entry.reason);
      else if (entry.kind === "unsupported") refuse(entry.at, `${entry.what} is not supported`);
      else message ??= entry.text;
      if (links.length > most) break;
      yield;
    }
  } catch (error) {
    if (error instanceof BodyError) return { fault: error.message };
    throw error;
  }
  return { links, bad, badCount, message };
}
