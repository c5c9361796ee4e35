/** Reads status pages and their updates as the API and documents write them, every size bounded. Pure. */
import { isFields } from "./plain-values.ts";
import { isTimezone } from "./quiet-hours.ts";
import { readSelector, type SelectorWords, writeSelector } from "./selector.ts";
import {
  GROUP_OPENS,
  MERGES,
  NEW_PAGE,
  PAGE_ACCESSES,
  PAGE_FRAMES,
  PAGE_THEMES,
  type PageComponent,
  type PageGroup,
  type PageShow,
  type PageUpdate,
  type StatusPage,
  UPDATE_LEVELS,
} from "./status-page.ts";
import { parseTime } from "./time.ts";
import { parseUrl } from "./url.ts";

/** Code points, but for those that say bytes. */
export const PAGE_LIMITS = {
  title: 120,
  text: 5_000,
  lineText: 500,
  groups: 50,
  /** Of all groups together. */
  components: 200,
  domains: 10,
  /** Bytes of UTF-8. */
  cssBytes: 32_768,
  /** Bytes of the image. */
  logoBytes: 65_536,
  linkBytes: 2_048,
  days: 90,
  passwordLeast: 8,
  passwordMost: 200,
} as const;

/** RFC 1035 section 2.3.1, so that it may stand in a path and in a name. */
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** RFC 1123 section 2.1: letters, digits and hyphens between dots, and no address in digits. */
const DOMAIN = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;
const ACCENT = /^#[0-9a-f]{6}$/;
const LANGUAGE = /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i;
const LOGO = /^data:(image\/(?:png|jpeg|gif|webp|svg\+xml));base64,([A-Za-z0-9+/]{2,}={0,2})$/;
const CONTACT = /^mailto:[^\s<>"']{3,254}$/;

/** How a reader gets in, as far as it was sent. */
export interface AccessSecrets {
  /** A new one. */
  readonly password: string | null;
  /** The link before stops to work. */
  readonly rotate: boolean;
}

export type ReadStatusPage =
  | { readonly page: StatusPage; readonly secrets: AccessSecrets }
  | { readonly fault: string };

type Json = Readonly<Record<string, unknown>>;

/** Whether a page may have it. */
export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

class Fault extends Error {}

/**
 * @param body JSON from outside @param before what stays where a field was not sent; null: a new page
 * @returns the fault as a sentence for the one who sent it
 */
export function readStatusPage(body: Json, before: StatusPage | null, words: SelectorWords): ReadStatusPage {
  try {
    const page = pageOf(body, before, words);
    const secrets = secretsOf(field(body, "access"));
    const isNewPassword = page.access === "password" && before?.access !== "password";
    if (isNewPassword && secrets.password === null) throw new Fault("access.password is required.");
    if (secrets.password !== null && page.access !== "password")
      throw new Fault("access.password is for the access password.");
    return { page, secrets };
  } catch (error) {
    if (error instanceof Fault) return { fault: error.message };
    throw error;
  }
}

function pageOf(body: Json, before: StatusPage | null, words: SelectorWords): StatusPage {
  const base = before ?? { ...NEW_PAGE, slug: "", title: "" };
  const sent = new Sent(body);
  return {
    title: sent.text("title", before?.title, 1, PAGE_LIMITS.title),
    slug: sent.matching("slug", before?.slug, SLUG, "1 to 63 of a to z, 0 to 9 and hyphens, no hyphen first or last"),
    published: sent.flag("published", base.published),
    domains: sent.has("domains") ? domainsOf(field(body, "domains")) : base.domains,
    access: sent.has("access") ? accessOf(field(body, "access")) : base.access,
    groups: sent.has("groups") ? groupsOf(field(body, "groups"), words) : base.groups,
    css: sent.has("css") ? cssOf(field(body, "css")) : base.css,
    logo: sent.has("logo") ? logoOf(field(body, "logo")) : base.logo,
    settings: settingsOf(sent, base.settings),
  };
}

function settingsOf(sent: Sent, base: StatusPage["settings"]): StatusPage["settings"] {
  return {
    text: sent.text("text", base.text, 0, PAGE_LIMITS.text),
    listed: sent.flag("listed", base.listed),
    index: sent.flag("index", base.index),
    timezone: sent.known("timezone", base.timezone, isTimezone, "the name of a time zone, such as Europe/Berlin"),
    language: sent.known("language", base.language, isLanguage, "a language tag, such as en or de-AT"),
    theme: sent.word("theme", base.theme, PAGE_THEMES),
    accent: sent.matching("accent", base.accent, ACCENT, "a colour as #rrggbb, in lower case"),
    links: sent.has("links") ? linksOf(sent.object("links"), base.links) : base.links,
    frame: sent.word("frame", base.frame, PAGE_FRAMES),
    days: sent.whole("days", base.days, 1, PAGE_LIMITS.days),
    show: sent.has("show") ? showOf(sent.object("show"), base.show) : base.show,
  };
}

function showOf(sent: Sent, base: PageShow): PageShow {
  return {
    uptime: sent.flag("uptime", base.uptime),
    latency: sent.flag("latency", base.latency),
    certificate: sent.flag("certificate", base.certificate),
    incidentsDays: sent.whole("incidents_days", base.incidentsDays, 0, PAGE_LIMITS.days),
  };
}

function linksOf(sent: Sent, base: StatusPage["settings"]["links"]): StatusPage["settings"]["links"] {
  return {
    home: sent.has("home") ? linkOf(sent.get("home"), "links.home", false) : base.home,
    contact: sent.has("contact") ? linkOf(sent.get("contact"), "links.contact", true) : base.contact,
  };
}

function linkOf(value: unknown, what: string, mayBeMail: boolean): string | null {
  if (value === null || value === "") return null;
  const hint = `${what} must be an http or https address${mayBeMail ? ", or mailto: and an address" : ""}.`;
  if (typeof value !== "string" || bytesOf(value) > PAGE_LIMITS.linkBytes) throw new Fault(hint);
  if (mayBeMail && CONTACT.test(value)) return value;
  const url = parseUrl(value);
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) throw new Fault(hint);
  if (url.username !== "" || url.password !== "") throw new Fault(`${what} must have no user name or password.`);
  return url.href;
}

function accessOf(value: unknown): StatusPage["access"] {
  const type = isFields(value) ? field(value, "type") : undefined;
  const found = PAGE_ACCESSES.find((one) => one === type);
  if (found === undefined) throw new Fault(`access.type must be ${orOf(PAGE_ACCESSES)}.`);
  return found;
}

function secretsOf(value: unknown): AccessSecrets {
  if (!isFields(value)) return { password: null, rotate: false };
  const password = field(value, "password") ?? null;
  const rotate = field(value, "rotate") ?? false;
  const { passwordLeast, passwordMost } = PAGE_LIMITS;
  if (password !== null && (typeof password !== "string" || !isWithin(password, passwordLeast, passwordMost)))
    throw new Fault(`access.password must be a text of ${passwordLeast} to ${passwordMost} characters.`);
  if (typeof rotate !== "boolean") throw new Fault("access.rotate must be true or false.");
  return { password, rotate };
}

function domainsOf(value: unknown): readonly string[] {
  const words = Array.isArray(value) && value.length <= PAGE_LIMITS.domains ? value : null;
  if (words === null) throw new Fault(`domains must be a list of at most ${PAGE_LIMITS.domains} names.`);
  const domains = words.map((one: unknown) => {
    const domain = typeof one === "string" ? one.trim().toLowerCase() : "";
    if (!DOMAIN.test(domain)) throw new Fault("domains must be names such as status.acme.org, without port and path.");
    return domain;
  });
  return [...new Set(domains)];
}

function groupsOf(value: unknown, words: SelectorWords): readonly PageGroup[] {
  if (!Array.isArray(value) || value.length > PAGE_LIMITS.groups)
    throw new Fault(`groups must be a list of at most ${PAGE_LIMITS.groups} groups.`);
  const groups = value.map((one: unknown, index) => groupOf(new Sent(one, `groups[${index}]`), words));
  const components = groups.reduce((sum, group) => sum + group.components.length, 0);
  if (components > PAGE_LIMITS.components)
    throw new Fault(`groups must have at most ${PAGE_LIMITS.components} components together.`);
  return groups;
}

function groupOf(sent: Sent, words: SelectorWords): PageGroup {
  sent.refuseOthers(["title", "open", "components"]);
  const components = sent.get("components");
  if (!Array.isArray(components) || components.length > PAGE_LIMITS.components)
    throw new Fault(`${sent.path("components")} must be a list of at most ${PAGE_LIMITS.components} components.`);
  return {
    title: sent.text("title", undefined, 1, PAGE_LIMITS.title),
    open: sent.word("open", "problems", GROUP_OPENS),
    components: components.map((one: unknown, index) =>
      componentOf(new Sent(one, sent.path(`components[${index}]`)), words),
    ),
  };
}

function componentOf(sent: Sent, words: SelectorWords): PageComponent {
  sent.refuseOthers(["servers", "title", "text", "merge"]);
  const read = readSelector(sent.get("servers"), words, sent.path("servers"));
  if ("fault" in read) throw new Fault(read.fault);
  const hasTitle = sent.has("title") && sent.get("title") !== null;
  const merge = sent.word("merge", "each", MERGES);
  // One line for many has no name of its own.
  if (merge !== "each" && !hasTitle) throw new Fault(`${sent.path("title")} is required where merge is ${merge}.`);
  return {
    servers: read.selector,
    title: hasTitle ? sent.text("title", undefined, 1, PAGE_LIMITS.title) : null,
    text: sent.text("text", "", 0, PAGE_LIMITS.lineText),
    merge,
  };
}

function cssOf(value: unknown): string | null {
  if (value === null || value === "") return null;
  if (typeof value !== "string" || value.includes("\0") || bytesOf(value) > PAGE_LIMITS.cssBytes)
    throw new Fault(`css must be a text of at most ${PAGE_LIMITS.cssBytes} bytes.`);
  return value;
}

function logoOf(value: unknown): string | null {
  if (value === null || value === "") return null;
  const longest = Math.ceil(PAGE_LIMITS.logoBytes / 3) * 4;
  const [, , data = ""] = typeof value === "string" && value.length <= longest + 40 ? (LOGO.exec(value) ?? []) : [];
  // Four characters are three bytes (RFC 4648 section 4).
  const bytes = (data.length / 4) * 3 - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0);
  if (data === "" || data.length % 4 !== 0 || bytes > PAGE_LIMITS.logoBytes)
    throw new Fault(
      `logo must be a data URL in base64 of an image (png, jpeg, gif, webp, svg+xml) of at most ${PAGE_LIMITS.logoBytes} bytes: pages load nothing from elsewhere.`,
    );
  return value as string;
}

/** @param logo as readStatusPage() took it */
export function logoParts(logo: string): { readonly mediaType: string; readonly base64: string } {
  const [, mediaType = "", base64 = ""] = LOGO.exec(logo) ?? [];
  return { mediaType, base64 };
}

export type ReadPageUpdate = { readonly update: PageUpdate } | { readonly fault: string };

/** @param before what stays where a field was not sent; null: a new one */
export function readPageUpdate(body: Json, before: PageUpdate | null, nowMs: number): ReadPageUpdate {
  try {
    const sent = new Sent(body);
    const atMs = before?.atMs ?? Math.round(nowMs);
    const endsAtMs = sent.has("ends_at") ? endsAtOf(sent.get("ends_at")) : (before?.endsAtMs ?? null);
    if (endsAtMs !== null && endsAtMs <= atMs) throw new Fault("ends_at must be after the update.");
    return {
      update: {
        level: sent.word("level", before?.level ?? "info", UPDATE_LEVELS),
        title: sent.text("title", before?.title, 1, PAGE_LIMITS.title),
        text: sent.text("text", before?.text ?? "", 0, PAGE_LIMITS.text),
        atMs,
        endsAtMs,
      },
    };
  } catch (error) {
    if (error instanceof Fault) return { fault: error.message };
    throw error;
  }
}

function endsAtOf(value: unknown): number | null {
  if (value === null) return null;
  const atMs = typeof value === "string" ? parseTime(value) : undefined;
  if (atMs === undefined) throw new Fault(`ends_at must be an ISO time, such as 2026-11-21T06:10:00Z.`);
  return atMs;
}

/** As readStatusPage() reads them. */
export function writeGroups(groups: readonly PageGroup[]) {
  return groups.map(({ title, open, components }) => ({
    title,
    open,
    components: components.map((one) => ({
      servers: writeSelector(one.servers),
      title: one.title,
      text: one.text,
      merge: one.merge,
    })),
  }));
}

/** Members of a JSON object, each read by its type. */
class Sent {
  readonly #object: Json;
  readonly #what: string;

  constructor(value: unknown, what = "") {
    if (!isFields(value)) throw new Fault(`${what === "" ? "It" : what} must be an object.`);
    this.#object = value;
    this.#what = what;
  }

  path(name: string): string {
    return this.#what === "" ? name : `${this.#what}.${name}`;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#object, name);
  }

  get(name: string): unknown {
    return field(this.#object, name);
  }

  object(name: string): Sent {
    return new Sent(this.get(name), this.path(name));
  }

  refuseOthers(known: readonly string[]): void {
    const other = Object.keys(this.#object).find((name) => !known.includes(name));
    if (other !== undefined) throw new Fault(`${this.#what} has a member that is not known: it has ${orOf(known)}.`);
  }

  /** @param fallback undefined: it is required */
  text(name: string, fallback: string | undefined, least: number, most: number): string {
    if (!this.has(name) && fallback !== undefined) return fallback;
    const value = this.get(name);
    const trimmed = typeof value === "string" ? value.trim() : null;
    if (trimmed === null || trimmed.includes("\0") || !isWithin(trimmed, least, most))
      throw new Fault(`${this.path(name)} must be a text of ${least} to ${most} characters.`);
    return trimmed;
  }

  matching(name: string, fallback: string | undefined, pattern: RegExp, hint: string): string {
    if (!this.has(name) && fallback !== undefined) return fallback;
    const value = this.get(name);
    if (typeof value !== "string" || !pattern.test(value)) throw new Fault(`${this.path(name)} must be ${hint}.`);
    return value;
  }

  known(name: string, fallback: string, isKnown: (text: string) => boolean, hint: string): string {
    if (!this.has(name)) return fallback;
    const value = this.get(name);
    if (typeof value !== "string" || !isKnown(value)) throw new Fault(`${this.path(name)} must be ${hint}.`);
    return value;
  }

  flag(name: string, fallback: boolean): boolean {
    if (!this.has(name)) return fallback;
    const value = this.get(name);
    if (typeof value !== "boolean") throw new Fault(`${this.path(name)} must be true or false.`);
    return value;
  }

  whole(name: string, fallback: number, least: number, most: number): number {
    if (!this.has(name)) return fallback;
    const value = this.get(name);
    if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most)
      throw new Fault(`${this.path(name)} must be a whole number from ${least} to ${most}.`);
    return value;
  }

  word<const Word extends string>(name: string, fallback: Word, words: readonly Word[]): Word {
    if (!this.has(name)) return fallback;
    const value = this.get(name);
    const found = words.find((one) => one === value);
    if (found === undefined) throw new Fault(`${this.path(name)} must be ${orOf(words)}.`);
    return found;
  }
}

function field(object: Json, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** By code points. */
function isWithin(text: string, least: number, most: number): boolean {
  if (text.length > most * 2) return false;
  const length = [...text].length;
  return length >= least && length <= most;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function orOf(words: readonly string[]): string {
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function isLanguage(text: string): boolean {
  if (text.length > 35 || !LANGUAGE.test(text)) return false;
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
