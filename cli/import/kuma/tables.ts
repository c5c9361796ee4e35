/** What Uptime Kuma keeps, as rows of its tables, whichever file they come from: a database, or the JSON backup of version 1. Pure. */
import { type Fields, fieldsAt, isFields, jsonIn, memberOf, numberIn, rowsAt } from "../values.ts";

/** Tables that are read; what another version lacks has no rows. */
export const TABLES = [
  "monitor",
  "notification",
  "monitor_notification",
  "tag",
  "monitor_tag",
  "maintenance",
  "monitor_maintenance",
  "maintenance_status_page",
  "status_page",
  "status_page_cname",
  "group",
  "monitor_group",
  "incident",
  "setting",
  "proxy",
] as const;
export type TableName = (typeof TABLES)[number];

export interface KumaTables {
  readonly rows: Readonly<Partial<Record<TableName, readonly Fields[]>>>;
  /** What the source has and no importer takes, such as `2 users`. */
  readonly besides: readonly string[];
  /** Pictures of status pages as data URLs, by the path that the page has. */
  readonly pictures?: ReadonlyMap<string, string>;
}

export function rowsOf(tables: KumaTables, name: TableName): readonly Fields[] {
  return tables.rows[name] ?? [];
}

/** Ids are whole numbers; a backup may have them as texts. */
export function idIn(value: unknown): number | undefined {
  const id = numberIn(value);
  return id !== undefined && Number.isSafeInteger(id) && id >= 0 ? id : undefined;
}

/** Rows of a table of pairs, by the id of one side. */
export function linked(rows: readonly Fields[], from: string, to: string): ReadonlyMap<number, readonly number[]> {
  const byId = new Map<number, number[]>();
  for (const row of rows) {
    const [one, other] = [idIn(memberOf(row, from)), idIn(memberOf(row, to))];
    if (one === undefined || other === undefined) continue;
    const list = byId.get(one);
    if (list === undefined) byId.set(one, [other]);
    else list.push(other);
  }
  return byId;
}

/** `{version, notificationList, monitorList, proxyList}` as tables; undefined when it is no backup. */
export function tablesOfBackup(backup: unknown): KumaTables | undefined {
  if (!isFields(backup) || !Array.isArray(memberOf(backup, "monitorList"))) return undefined;
  const monitors = rowsAt(backup, "monitorList").map(snakeCased);
  const links: Fields[] = [];
  const tags: Fields[] = [];
  const monitorTags: Fields[] = [];
  for (const monitor of monitors) {
    const id = memberOf(monitor, "id");
    for (const [notification, isOn] of Object.entries(fieldsAt(monitor, "notification_idlist")))
      if (isOn === true || isOn === 1) links.push({ monitor_id: id, notification_id: notification });
    for (const tag of rowsAt(monitor, "tags")) {
      const tagId = memberOf(tag, "tag_id");
      tags.push({ id: tagId, name: memberOf(tag, "name") });
      monitorTags.push({ monitor_id: id, tag_id: tagId, value: memberOf(tag, "value") });
    }
  }
  const others = (name: string) => rowsAt(backup, name).map(snakeCased);
  return {
    rows: {
      monitor: monitors,
      notification: others("notificationList"),
      monitor_notification: links,
      tag: tags,
      monitor_tag: monitorTags,
      proxy: others("proxyList"),
    },
    besides: ["status pages and maintenance (a backup has none: read kuma.db for them)"],
  };
}

/** Backups name fields as the page's code does, tables as SQL does. */
function snakeCased(row: Fields): Fields {
  const entries = Object.entries(row).map(([name, value]) => {
    if (name === "accepted_statuscodes") return ["accepted_statuscodes_json", value] as const;
    return [name.replace(/[A-Z]+/g, (letters) => `_${letters.toLowerCase()}`), value] as const;
  });
  return Object.fromEntries(entries);
}

/** A column that holds JSON as a text; backups have it unpacked. */
export function jsonMember(row: Fields, name: string): unknown {
  return jsonIn(memberOf(row, name));
}
