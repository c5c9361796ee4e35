/** Links line by line. */
import { NO_TEXT } from "../../model/decode-text.ts";
import { isProxyScheme, parseProxyLink, schemeOf } from "../protocols/share-link/proxy-link.ts";
import { BodyError, EntryError } from "./body-error.ts";
import { type Entry, entryOf } from "./entry.ts";

/**
 * A line may hold several links, and panels write `\n` as two letters.
 *
 * @param mostLines blank ones and remarks among them, which are no entries and would be passed over in one go
 * @throws BodyError, while entries are taken
 */
export function* fromLines(text: string, mostLines: number): Generator<Entry> {
  const lines = text.replaceAll("\\r", "").replaceAll("\\n", "\n");
  // One after the other: a body of nothing but newlines would be millions of pieces at once.
  for (let from = 0, at = 1; from <= lines.length; at++) {
    const next = lines.indexOf("\n", from);
    const end = next < 0 ? lines.length : next;
    if (at > mostLines) throw new BodyError(`The list has more than ${mostLines} lines.`);
    yield* fromLine(withoutStrayStart(lines.slice(from, end)).trim(), at);
    from = end + 1;
  }
}

/** What is no text in front of a line belongs to none of its links. */
function withoutStrayStart(line: string): string {
  let start = 0;
  while (line.charAt(start) === NO_TEXT) start++;
  return line.slice(start);
}

function* fromLine(line: string, at: number): Generator<Entry> {
  if (line === "" || line.startsWith("#") || line.startsWith("//")) return;
  if (line.indexOf("://") === line.lastIndexOf("://")) yield fromLink(line, at);
  else for (const link of line.split(LINKS_IN_LINE)) if (link.trim() !== "") yield fromLink(link, at);
}

/** Remarks can hold addresses: only after a blank or comma, and only schemes of proxies. */
const LINKS_IN_LINE = /(?<=[\s,\ufffd])(?=(?:vless|vmess|trojan|ss|ssr|hysteria2?|hy2|tuic|anytls|wireguard):\/\/)/i;

function fromLink(link: string, at: number): Entry {
  const scheme = schemeOf(link);
  if (scheme === undefined) return { kind: "bad", at, reason: "this is no link" };
  if (!isProxyScheme(scheme)) return { kind: "unsupported", at, what: scheme };
  return entryOf(at, () => {
    refuseStray(link);
    return parseProxyLink(link);
  });
}

/** In a name it harms nothing; elsewhere the link would lead to another server, or as another user. @throws EntryError */
function refuseStray(link: string): void {
  const stray = link.indexOf(NO_TEXT);
  if (stray < 0) return;
  const name = link.indexOf("#");
  if (name < 0 || stray < name) throw new EntryError("it holds bytes that are no text");
}
