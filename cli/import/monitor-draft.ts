/** One monitor of a document while it is put together: what cannot be said makes it incomplete, and it comes over paused. */
import { isIP } from "node:net";
import { fieldsOf, isUptimeKind, settingsOf, uptimeOf, webUrlFault } from "../../engine/contract/registry.ts";
import type { FieldValue, MonitorEntry } from "../../model/document/document.ts";
import { isWebsite } from "../../model/kind.ts";
import { GRACE_S, INTERVAL_S, PERIOD_S, RETRIES, TIMEOUT_S } from "../../model/schedule.ts";
import { parseUrl, withoutBrackets } from "../../model/url.ts";
import { mapTexts, standIn } from "./marks.ts";
import type { Notes } from "./notes.ts";
import { cutTo } from "./values.ts";

/** Of a name (docs/api-contract.md#lengths), code points. */
const LONGEST_NAME = 255;
const MOST_TAGS = 20;
const LONGEST_TAG = 50;
/** Of a keyword, code points. */
const LONGEST_KEYWORD = 255;
const INCOMPLETE = "imported:incomplete";
/** Days before an end at which a monitor can warn. */
const WARNING_DAYS = [1, 2, 3, 7, 14, 30, 60] as const;
// biome-ignore lint/suspicious/noControlCharactersInRegex: neither database keeps it in a text
const NUL = /\u0000/g;

export class MonitorDraft {
  readonly path: string;
  readonly key: string;
  readonly #notes: Notes;
  readonly #fields = new Map<string, FieldValue>();
  readonly #tags: string[] = [];
  /** Of the import itself: they win over the source's when there are too many. */
  readonly #ownTags: string[] = [];
  #type = "http";
  #name: string;
  #isActive = true;
  #isIncomplete = false;

  constructor(path: string, key: string, name: string, notes: Notes) {
    this.path = path;
    this.key = key;
    this.#name = name;
    this.#notes = notes;
  }

  get type(): string {
    return this.#type;
  }

  kind(type: string): this {
    this.#type = type;
    return this;
  }

  /** undefined leaves the field out. */
  set(field: string, value: FieldValue | undefined): this {
    if (value !== undefined) this.#fields.set(field, value);
    return this;
  }

  get(field: string): FieldValue | undefined {
    return this.#fields.get(field);
  }

  active(isActive: boolean): this {
    this.#isActive = isActive;
    return this;
  }

  tag(tag: string): this {
    this.#tags.push(tag);
    return this;
  }

  ownTag(tag: string): this {
    this.#ownTags.push(tag);
    return this;
  }

  /** What it watches would be something else without this. */
  lost(message: string): this {
    this.#isIncomplete = true;
    this.#notes.add("lost", this.path, message);
    return this;
  }

  /** Lost, and what it watches is the same. */
  lostBeside(message: string): this {
    this.#notes.add("lost", this.path, message);
    return this;
  }

  changed(message: string): this {
    this.#notes.add("changed", this.path, message);
    return this;
  }

  info(message: string): this {
    this.#notes.add("info", this.path, message);
    return this;
  }

  /** Seconds. */
  interval(seconds: number | undefined): this {
    return this.#within("interval", seconds, INTERVAL_S, "s");
  }

  /** Seconds a check may take. */
  timeout(seconds: number | undefined): this {
    if (seconds === undefined) return this;
    // A timeout below our minimum is raised, which affects slow targets, not those that are down.
    if (seconds < TIMEOUT_S.least) return this.set("timeout", TIMEOUT_S.least);
    return this.#within("timeout", seconds, TIMEOUT_S, "s");
  }

  /** Failures in a row before it is down. */
  failures(count: number | undefined): this {
    return this.#within("maxretries", count, RETRIES, "");
  }

  #within(field: string, value: number | undefined, bounds: { least: number; most: number }, unit: string): this {
    if (value === undefined) return this;
    const kept = Math.min(Math.max(Math.round(value), bounds.least), bounds.most);
    if (kept !== Math.round(value)) this.changed(`${field} ${Math.round(value)}${unit} is ${kept}${unit} here`);
    return this.set(field, kept);
  }

  /** Seconds between calls of a heartbeat's job, and how late one may be. */
  period(seconds: number, graceS: number): this {
    if (seconds > PERIOD_S.most) this.lost(`a period of ${Math.round(seconds)} s is longer than ${PERIOD_S.most} s`);
    else if (seconds < PERIOD_S.least) this.changed(`a period of ${Math.round(seconds)} s is ${PERIOD_S.least} s here`);
    this.set("period", Math.min(Math.max(Math.round(seconds), PERIOD_S.least), PERIOD_S.most));
    return this.set("grace", Math.min(Math.max(Math.round(graceS), GRACE_S.leastStandard), GRACE_S.most));
  }

  /** Cut to what a keyword may be. */
  keyword(text: string): this {
    const kept = cutTo(text, LONGEST_KEYWORD);
    if (kept !== text) this.lost(`the keyword is longer than ${LONGEST_KEYWORD} characters and was cut`);
    return this.set("keyword", kept);
  }

  /** Warn so many days before the certificate ends: the nearest that there is; 0 is off. Only where there is one. */
  certificateDays(days: number): this {
    if (isWebsite(this.#type) && !/^https:/i.test(String(this.get("url")))) return this;
    return this.set("ssl_expiration", nearestDays(days));
  }

  /** Only names are registered. */
  domainDays(days: number): this {
    const host = parseUrl(standIn(String(this.get("url"))))?.hostname;
    if (host === undefined || !host.includes(".") || isIP(withoutBrackets(host)) !== 0) return this;
    return this.set("domain_expiration", nearestDays(days));
  }

  /** @returns undefined when no monitor can be made of it, which is noted */
  entry(): MonitorEntry | undefined {
    const name = cutTo(this.#name.replace(NUL, "").trim(), LONGEST_NAME);
    if (isUptimeKind(this.#type) && !this.#repair(this.#type)) return undefined;
    const fields = Object.fromEntries(this.#fields);
    return {
      ...(this.#type !== "vpn" && { type: this.#type }),
      ...(name !== "" && name !== this.key && { name }),
      ...(this.#isActive && !this.#isIncomplete ? {} : { active: false }),
      ...this.#tagList(),
      ...fields,
    };
  }

  #tagList(): { readonly tags?: readonly string[] } {
    const own = [...(this.#isIncomplete ? [INCOMPLETE] : []), ...this.#ownTags];
    const tags = new Set([...own, ...this.#tags].map(tagOf).filter((tag) => tag !== ""));
    if (tags.size > MOST_TAGS) this.info(`of ${tags.size} tags the first ${MOST_TAGS} come over`);
    return tags.size === 0 ? {} : { tags: [...tags].slice(0, MOST_TAGS) };
  }

  /** What the kind's own schema refuses is left out; a field that it cannot do without makes it no monitor. */
  #repair(type: Parameters<typeof uptimeOf>[0]): boolean {
    const known = fieldsOf(uptimeOf(type));
    for (const field of [...this.#fields.keys()]) {
      const isCommon = ["interval", "timeout", "maxretries", "token"].includes(field);
      if (!isCommon && !Object.hasOwn(known, field)) this.#leaveOut(field, `a ${type} check has no ${field}`);
    }
    this.#refuseOtherFamily();
    const removed = new Map<string, string>();
    for (let fault = this.#fault(type); fault !== undefined; fault = this.#fault(type)) {
      const { field, message } = fault;
      if (field === undefined || !this.#fields.delete(field)) {
        this.#notes.add("lost", this.path, `left out: ${removed.get(field ?? "") ?? message}`);
        return false;
      }
      removed.set(field, message);
    }
    for (const [field, message] of removed) this.lost(`${field} is left out: ${message}`);
    return true;
  }

  #leaveOut(field: string, message: string): void {
    this.#fields.delete(field);
    this.lost(`${field} is left out: ${message}`);
  }

  #fault(type: string): { readonly field: string | undefined; readonly message: string } | undefined {
    const settings = Object.fromEntries(
      [...this.#fields]
        .filter(([field]) => !["interval", "timeout", "maxretries", "token"].includes(field))
        .map(([field, value]) => [field, mapTexts(value, standIn)]),
    );
    const url = isWebsite(type) && typeof settings.url === "string" ? webUrlFault(settings.url) : undefined;
    if (url !== undefined) return { field: undefined, message: `${url}.` };
    const issue = settingsOf(type)?.safeParse(settings).error?.issues[0];
    return issue && { field: fieldIn(issue.path), message: issue.message };
  }

  /** An address of the family that a check must not use fails forever. */
  #refuseOtherFamily(): void {
    const wanted = this.get("ip_version");
    if (typeof wanted !== "string") return;
    const url = this.get("url");
    const host = typeof url === "string" ? parseUrl(standIn(url))?.hostname : this.get("host");
    const family = typeof host === "string" ? isIP(withoutBrackets(host)) : 0;
    if (family !== 0 && `ipv${family}` !== wanted) this.#leaveOut("ip_version", `the host is an IPv${family} address`);
  }
}

function fieldIn(path: readonly PropertyKey[]): string | undefined {
  return typeof path[0] === "string" ? path[0] : undefined;
}

/** As tags are kept: lower case, 1 to 50 characters. */
export function tagOf(text: string): string {
  return cutTo(text.replace(NUL, "").trim().toLowerCase(), LONGEST_TAG).trim();
}

function nearestDays(days: number): number {
  if (!(days > 0)) return 0;
  return WARNING_DAYS.reduce((best: number, one) => (Math.abs(one - days) < Math.abs(best - days) ? one : best), 1);
}

/** The shortest warning that is not later than the one asked for. */
export function daysAtLeast(days: number): number {
  return WARNING_DAYS.find((one) => one >= days) ?? 60;
}
