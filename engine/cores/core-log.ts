/**
 * Log lines of a core, kept within a bound and matched to configs. Most checks pass and need no log, so lines are parsed only when a check
 * asks for them, or when many have gathered. Pure.
 */
import { BoundedMap } from "../../model/bounded-map.ts";
import type { Finding } from "./finding.ts";

/** Unread text beyond this is read, and let go, characters. */
const UNREAD_LENGTH = 256 * 1024;
/** A line is looked at up to here: a chain of causes is a few hundred characters. */
const LINE_LENGTH = 4_096;
/** The end that is kept for what a core said before it died, characters. */
const TAIL_LENGTH = 8_192;
/** Of one config; the first say why. */
const FINDINGS_PER_TAG = 16;
/** Connections whose config is remembered; a prober opens a few for each of a core's configs. */
const SESSIONS = 4_096;

export class CoreLog {
  readonly #explain: (line: string) => Finding | undefined;
  readonly #tagOfSession = new BoundedMap<string, string>(SESSIONS);
  readonly #findings = new Map<string, Finding[]>();
  #unread: string[] = [];
  #unreadLength = 0;
  /** A line whose end has not come. */
  #rest = "";
  #tail = "";

  constructor(explain: (line: string) => Finding | undefined) {
    this.#explain = explain;
  }

  push(text: string): void {
    this.#unread.push(text);
    this.#unreadLength += text.length;
    if (this.#unreadLength > UNREAD_LENGTH) this.#read();
  }

  /** What it has said about an entry, oldest first. */
  findingsOf(tag: string): readonly Finding[] {
    this.#read();
    return this.#findings.get(tag) ?? [];
  }

  /** The end of the log. It may hold secrets of users' configs: use it only for the core's rules. */
  lastWords(): string {
    this.#read();
    return this.#tail + this.#rest;
  }

  #read(): void {
    const text = this.#rest + this.#unread.join("");
    this.#unread = [];
    this.#unreadLength = 0;
    const end = text.lastIndexOf("\n") + 1;
    // A line without an end is not waited for beyond its bound.
    this.#rest = text.slice(end).slice(0, LINE_LENGTH);
    if (end === 0) return;
    const whole = text.slice(0, end);
    this.#tail = (this.#tail + whole.slice(-TAIL_LENGTH)).slice(-TAIL_LENGTH);
    for (const line of whole.split("\n")) if (line !== "") this.#readLine(line.slice(0, LINE_LENGTH));
  }

  #readLine(line: string): void {
    const finding = this.#explain(line);
    if (finding === undefined) return;
    const { session, verdict } = finding;
    if (finding.isOfAll === true) {
      for (const tag of new Set([...this.#tagOfSession].map(([, tag]) => tag))) this.#add(tag, finding);
      return;
    }
    const tag = finding.tag ?? (session === null ? undefined : this.#tagOfSession.get(session));
    if (tag === undefined) return;
    if (session !== null) this.#tagOfSession.set(session, tag);
    if (verdict === null && finding.isReached !== true) return;
    this.#add(tag, finding);
  }

  #add(tag: string, finding: Finding): void {
    const known = this.#findings.get(tag) ?? [];
    if (known.length < FINDINGS_PER_TAG) known.push({ ...finding, tag });
    this.#findings.set(tag, known);
  }
}
