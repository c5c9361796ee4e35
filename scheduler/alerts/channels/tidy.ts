/** Texts of a message, safe to put into any markup: one line each, without characters that hide or turn others, and bounded. Pure. */
import type { Message, MessageItem, MessageSeverity } from "../../../model/alert-message.ts";
import { parseUrl } from "../../../model/url.ts";

/** Characters (UTF-16) of each text; our choice: a title fits a phone's screen, and every service takes the whole within its own limits. */
const MOST = {
  title: 200,
  summary: 500,
  fact: 300,
  name: 120,
  why: 300,
  facts: 16,
  items: 20,
  key: 255,
  url: 2_000,
} as const;

/** Control characters, line ends, bidirectional and invisible ones. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const BREAK = "\u200b";

/** One line of at most so many UTF-16 units, cut between characters. */
export function tidy(text: string, most: number): string {
  // What is cut off is not looked at: a text of any length costs no more than its beginning.
  const plain = text
    .slice(0, 4 * most)
    .replace(HIDDEN, " ")
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .trim();
  return cut(plain, most);
}

export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/\p{Surrogate}$/u, "")}…`;
}

export function tidyMessage(message: Message): Message {
  return {
    ...message,
    title: tidy(message.title, MOST.title),
    summary: tidy(message.summary, MOST.summary),
    facts: message.facts.slice(0, MOST.facts).map(([name, value]) => [tidy(name, MOST.name), tidy(value, MOST.fact)]),
    items: message.items.slice(0, MOST.items).map(tidyItem),
    more: message.more + Math.max(0, message.items.length - MOST.items),
    groupKey: message.groupKey,
    link: tidyUrl(message.link),
    acknowledge: message.acknowledge === null ? null : tidyUrl(message.acknowledge) || null,
  };
}

/** For people: a message about one thing does not repeat in its summary or list what its title and facts say. */
export function withoutRepeats(message: Message): Message {
  const { facts, items, more, summary } = message;
  const isSaid = facts.some(([, text]) => text === summary);
  const isAlone = items.length === 1 && more === 0;
  return { ...message, summary: isSaid ? "" : summary, items: isAlone ? [] : items };
}

function tidyItem(item: MessageItem): MessageItem {
  return {
    id: tidy(item.id, MOST.name),
    name: tidy(item.name, MOST.name),
    state: tidy(item.state, MOST.name),
    why: tidy(item.why, MOST.why),
    since: tidy(item.since, MOST.name),
    url: tidyUrl(item.url),
  };
}

/** An address of ours; empty when it is none that a reader could open. */
function tidyUrl(text: string): string {
  const url = text.length > MOST.url ? undefined : parseUrl(text);
  return url !== undefined && /^https?:$/.test(url.protocol) ? url.href : "";
}

const ICONS: Readonly<Record<MessageSeverity, string>> = { critical: "🔴", warning: "🟠", info: "🔵", ok: "🟢" };
const BEGINS_WITH_ICON = /^\p{Extended_Pictographic}/u;

/** The title with a mark of how bad it is, unless it has one. */
export function headline({ title, severity }: Message): string {
  return BEGINS_WITH_ICON.test(title) ? title : `${ICONS[severity]} ${title}`;
}

/** `3 of them` as a line: name, state, why, since. */
export function itemText({ name, state, why, since }: MessageItem): string {
  const said = [state, why].filter((text) => text !== "").join(", ");
  return `${name}${said === "" ? "" : `: ${said}`}${since === "" ? "" : ` (since ${since})`}`;
}

/** What stands below a list that was cut: a line, or none. */
export function moreLines(more: number): readonly string[] {
  return more > 0 ? [`and ${more} more`] : [];
}

/** Where a message leads, with the words of each link. */
export function linksOf({ link, acknowledge }: Message): readonly (readonly [words: string, url: string])[] {
  return [
    ...(link === "" ? [] : [["Open", link] as const]),
    ...(acknowledge === null ? [] : [["Acknowledge", acknowledge] as const]),
  ];
}

/** Text within HTML or one of its attributes. */
export function htmlText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** All that a message says below its title, a line each, without markup. */
export function plainLines(message: Message): readonly string[] {
  return [
    ...(message.summary === "" ? [] : [message.summary]),
    ...message.facts.map(([name, value]) => `${name}: ${value}`),
    ...message.items.map((item) => `• ${itemText(item)}`),
    ...moreLines(message.more),
  ];
}

interface Fitting {
  /** Absent: UTF-16 units. */
  readonly sizeOf?: (text: string) => number;
  readonly separator?: string;
  /** Lines that stand at the end whatever was left out, as links do. */
  readonly last?: readonly string[];
}

/** All below the title with the links, within so many characters; the title where there is nothing else, as services refuse an empty text. */
export function plainText(message: Message, most: number): string {
  const last = [
    ...(message.link === "" ? [] : [message.link]),
    ...(message.acknowledge === null ? [] : [`Acknowledge: ${message.acknowledge}`]),
  ];
  const text = fitting(plainLines(message), most, { last });
  return text === "" ? message.title : text;
}

/** The first lines that fit together, never part of one; a line after them says that others were left out. */
export function fitting(
  lines: readonly string[],
  most: number,
  { sizeOf = (text) => text.length, separator = "\n", last = [] }: Fitting = {},
): string {
  const sizeOfLine = (line: string): number => sizeOf(line) + sizeOf(separator);
  const kept: string[] = [];
  const ending = "…";
  let room = most - sizeOf(ending) - last.reduce((size, line) => size + sizeOfLine(line), 0);
  for (const line of lines) {
    room -= sizeOfLine(line);
    if (room < 0) {
      kept.push(ending);
      break;
    }
    kept.push(line);
  }
  return [...kept, ...last].join(separator);
}

/** Bytes of a text within JSON, where a backslash is two. */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/** A character of markup that has no escape: an invisible break after it ends what it would begin. */
export function brokenUp(text: string, characters: RegExp): string {
  return text.replace(characters, `$&${BREAK}`);
}
