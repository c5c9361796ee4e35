/** A list as what is to be checked: configs once each, and every other line with what is wrong with it. */
import { createHash } from "node:crypto";
import { writeLink } from "../../engine/protocols/share-link/write-link.ts";
import { type BodyBounds, entriesOf } from "../../engine/subscription/body.ts";
import type { Entry } from "../../engine/subscription/entry.ts";
import { identityOfConfig } from "../../engine/subscription/list.ts";
import type { Kind } from "../../model/kind.ts";
import { endpointText } from "../check/target.ts";

/** A user's own file may be larger than a list from the network; our choice. */
const BOUNDS: BodyBounds = { mebibytes: 64, entries: 1_000_000, configs: 250_000 };
export const LARGEST_BYTES = BOUNDS.mebibytes * 1024 * 1024;
/** Entries read before others may have the thread: some milliseconds of work. */
const SLICE = 200;
/** Messages of a provider that are kept. */
const MOST_MESSAGES = 20;
/** Of a hash in base64url: 96 bits distinguish any number of configs. */
const ID_LENGTH = 16;

export interface BulkItem {
  /** Number of the line or entry in the list, or the file's name. */
  readonly at: number | string;
  /** The same for the same config, whatever it is called and wherever it stands. */
  readonly id: string;
  readonly kind: Kind;
  readonly place: string;
  readonly name: string | null;
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface BadLine {
  readonly at: number | string;
  readonly reason: string;
}

export interface BulkList {
  readonly items: readonly BulkItem[];
  readonly bad: readonly BadLine[];
  readonly duplicates: readonly { readonly at: number | string; readonly of: number | string }[];
  /** What the provider says in pseudo entries. */
  readonly messages: readonly string[];
}

/** @throws BodyError for what is no list */
export function readList(text: string, breathe: () => Promise<void>): Promise<BulkList> {
  return collect(
    (function* () {
      for (const entry of entriesOf(text, BOUNDS)) yield read(entry);
    })(),
    breathe,
  );
}

export type Read =
  | { readonly item: BulkItem }
  | { readonly bad: BadLine }
  /** Of the provider. */
  | { readonly message: string };

/** @param breathe lets others have the thread */
export async function collect(all: Iterable<Read>, breathe: () => Promise<void>): Promise<BulkList> {
  const items: BulkItem[] = [];
  const bad: BadLine[] = [];
  const duplicates: { at: number | string; of: number | string }[] = [];
  const messages: string[] = [];
  const known = new Map<string, number | string>();
  let count = 0;
  for (const read of all) {
    if (++count % SLICE === 0) await breathe();
    if ("bad" in read) bad.push(read.bad);
    else if ("message" in read) {
      if (messages.length < MOST_MESSAGES) messages.push(read.message);
    } else {
      const { item } = read;
      const first = known.get(item.id);
      if (first === undefined) {
        known.set(item.id, item.at);
        items.push(item);
      } else duplicates.push({ at: item.at, of: first });
    }
  }
  return { items, bad, duplicates, messages };
}

function read(entry: Entry): Read {
  switch (entry.kind) {
    case "info":
      return { message: entry.text };
    case "bad":
      return { bad: { at: entry.at, reason: entry.reason } };
    case "unsupported":
      return { bad: { at: entry.at, reason: `${entry.what} is not supported` } };
    case "config": {
      const { config, name } = entry.read;
      return {
        item: {
          at: entry.at,
          id: flat(identityOfConfig(config).slice(0, ID_LENGTH)),
          kind: config.account.protocol,
          place: flat(endpointText(config.host, config.port)),
          name: name === null ? null : flat(name),
          settings: { url: flat(writeLink(entry.read)) },
        },
      };
    }
  }
}

/** Texts that were cut out of others, or put together, keep all of these in memory: a copy keeps itself only. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}

export function idOf(kind: Kind, settings: object): string {
  return createHash("sha256")
    .update(JSON.stringify([kind, settings]))
    .digest("base64url")
    .slice(0, ID_LENGTH);
}
