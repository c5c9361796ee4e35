/** Status pages of Uptime Kuma. */
import type { StatusPageComponent, StatusPageEntry, StatusPageGroup } from "../../../model/document/document.ts";
import { before } from "../../../model/text.ts";
import type { Draft } from "../draft.ts";
import { keyOf } from "../keys.ts";
import { booleanAt, cutTo, type Fields, memberOf, numberAt, quoted, textAt, textIn } from "../values.ts";
import type { KumaMonitors } from "./monitors.ts";
import { idIn, type KumaTables, rowsOf } from "./tables.ts";

/** Of a title, code points. */
const LONGEST_TITLE = 255;
/** Bytes of a page's own style. */
const MOST_CSS = 32_768;
/** Characters of a picture as a data URL: of 256 KiB. */
const MOST_LOGO = 350_000;
const THEMES: readonly string[] = ["auto", "light", "dark"];
/** Fields that a page here has not, and what they are called. */
const LEFT_OUT: readonly (readonly [column: string, what: string])[] = [
  ["password", "its password"],
  ["footer_text", "the text at its foot"],
  ["show_tags", "that tags are shown"],
  ["analytics_id", "its analytics"],
  ["google_analytics_tag_id", "its analytics"],
  ["show_certificate_expiry", "that certificates' ends are shown"],
];

export function readPages(tables: KumaTables, draft: Draft, monitors: KumaMonitors): void {
  const groups = byPage(rowsOf(tables, "group"));
  const members = inGroup(rowsOf(tables, "monitor_group"));
  const domains = domainsByPage(tables);
  for (const row of rowsOf(tables, "status_page")) {
    const id = idIn(memberOf(row, "id"));
    const slug = textAt(row, "slug");
    if (id === undefined || slug === undefined) continue;
    const path = `status page ${quoted(slug)}`;
    const shown = (groups.get(id) ?? []).flatMap((group) => groupOf(group, members, { draft, path, monitors }));
    draft.page(keyOf(slug), {
      ...lookOf(row, slug, { draft, path, tables }),
      ...(domains.has(id) && { domains: domains.get(id) ?? [] }),
      groups: shown,
    });
    for (const [column, what] of LEFT_OUT) {
      const value = memberOf(row, column);
      if (textIn(value) !== undefined && value !== 0) draft.notes.add("info", path, `${what}: left out`);
    }
  }
  for (const row of rowsOf(tables, "incident")) {
    if (booleanAt(row, "active") === false) continue;
    draft.notes.add(
      "info",
      `announcement ${quoted(memberOf(row, "title"))}`,
      "announcements are left out: write it again",
    );
  }
}

interface ReadingPage {
  readonly draft: Draft;
  readonly path: string;
}

function lookOf(
  row: Fields,
  slug: string,
  reading: ReadingPage & { readonly tables: KumaTables },
): Omit<StatusPageEntry, "groups"> {
  const { draft, path } = reading;
  const theme = textAt(row, "theme") ?? "auto";
  const css = textAt(row, "custom_css");
  const keepsCss =
    css !== undefined && css.trim() !== "" && css.trim() !== "body {\n  \n}" && Buffer.byteLength(css) <= MOST_CSS;
  if (css !== undefined && Buffer.byteLength(css) > MOST_CSS)
    draft.notes.add("lost", path, "its style is longer than 32 KiB");
  return {
    slug,
    title: cutTo(textAt(row, "title") ?? slug, LONGEST_TITLE),
    ...(textAt(row, "description") !== undefined && { text: textAt(row, "description") ?? "" }),
    published: booleanAt(row, "published") ?? true,
    index: booleanAt(row, "search_engine_index") ?? true,
    ...(THEMES.includes(theme) && { theme }),
    ...(keepsCss && { css }),
    ...logoOf(row, reading),
  };
}

/** A picture that was uploaded is a file beside the database. */
function logoOf(
  row: Fields,
  { draft, path, tables }: ReadingPage & { readonly tables: KumaTables },
): { readonly logo?: string } {
  const icon = textAt(row, "icon");
  if (icon === undefined || icon === "/icon.svg") return {};
  const picture = icon.startsWith("data:") ? icon : tables.pictures?.get(before(icon, "?"));
  if (picture !== undefined && picture.length <= MOST_LOGO) return { logo: picture };
  const why = picture === undefined ? "read the data folder to have it" : "it is larger than 256 KiB";
  draft.notes.add("info", path, `its picture ${quoted(icon)} is left out: ${why}`);
  return {};
}

function groupOf(
  group: Fields,
  members: ReadonlyMap<number, readonly Fields[]>,
  { draft, path, monitors }: ReadingPage & { readonly monitors: KumaMonitors },
): readonly StatusPageGroup[] {
  const components: StatusPageComponent[] = [];
  for (const row of members.get(idIn(memberOf(group, "id")) ?? -1) ?? []) {
    const id = idIn(memberOf(row, "monitor_id"));
    const keys = id === undefined ? [] : monitors.keysOf(id);
    const name = id === undefined ? undefined : monitors.nameOf(id);
    if (id === undefined || keys.length === 0)
      draft.notes.add("lost", path, `${quoted(name ?? "a monitor")}: it did not come over`);
    else if (monitors.isGroup(id))
      components.push({ select: { keys }, title: cutTo(name ?? "", LONGEST_TITLE), merge: "worst" });
    else components.push({ select: { keys } });
    if (textAt(row, "custom_url") !== undefined)
      draft.notes.add("info", path, `the address of its own for ${quoted(name)}: left out`);
  }
  const title = cutTo(textAt(group, "name") ?? "Services", LONGEST_TITLE);
  return components.length === 0 ? [] : [{ title, components }];
}

function byWeight(rows: readonly Fields[]): readonly Fields[] {
  const weight = (row: Fields) => numberAt(row, "weight") ?? 1_000;
  return [...rows].sort((one, other) => weight(one) - weight(other));
}

function grouped(rows: readonly Fields[], column: string): ReadonlyMap<number, readonly Fields[]> {
  const groups = new Map<number, Fields[]>();
  for (const row of byWeight(rows)) {
    const id = idIn(memberOf(row, column));
    if (id === undefined) continue;
    const list = groups.get(id);
    if (list === undefined) groups.set(id, [row]);
    else list.push(row);
  }
  return groups;
}

function byPage(rows: readonly Fields[]): ReadonlyMap<number, readonly Fields[]> {
  return grouped(
    rows.filter((row) => booleanAt(row, "active") !== false),
    "status_page_id",
  );
}

function inGroup(rows: readonly Fields[]): ReadonlyMap<number, readonly Fields[]> {
  return grouped(rows, "group_id");
}

function domainsByPage(tables: KumaTables): ReadonlyMap<number, readonly string[]> {
  const domains = new Map<number, string[]>();
  for (const row of rowsOf(tables, "status_page_cname")) {
    const [id, domain] = [idIn(memberOf(row, "status_page_id")), textAt(row, "domain")];
    if (id === undefined || domain === undefined) continue;
    const list = domains.get(id);
    if (list === undefined) domains.set(id, [domain]);
    else list.push(domain);
  }
  return domains;
}
