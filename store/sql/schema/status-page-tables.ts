/** Columns of status pages, their domains and announcements (tables.ts). */
import type { Actor } from "../../../model/actor.ts";
import type { PageAccess, PageGroup, PageSettings, UpdateLevel } from "../../../model/status-page.ts";
import { SEALED_CELLS } from "../../sealed-cells.ts";
import { bigint, flag, id, json, nullable, prose, sealed, storeOnly, table, text } from "./column.ts";

export const STATUS_PAGES = table("status_pages", {
  id: id(),
  project_id: bigint(),
  /** Unique in the service. */
  slug: text(),
  title: prose(),
  published: flag(),
  settings: json<PageSettings>(),
  groups: json<readonly PageGroup[]>(),
  css: nullable(prose()),
  logo: nullable(text()),
  access: text<PageAccess>(),
  access_sealed: storeOnly(sealed(SEALED_CELLS.statusPage, text())),
  /** What the addresses of its badges begin with; unique, random. */
  badge_name: text(),
  created_at_ms: bigint(),
  updated_at_ms: bigint(),
});

/** A domain leads to one page. */
export const STATUS_PAGE_DOMAINS = table("status_page_domains", { domain: text(), status_page_id: bigint() });

export const STATUS_PAGE_UPDATES = table("status_page_updates", {
  id: id(),
  status_page_id: storeOnly(bigint()),
  at_ms: bigint(),
  level: text<UpdateLevel>(),
  title: prose(),
  text: prose(),
  ends_at_ms: nullable(bigint()),
  actor: json<Actor>(),
});
