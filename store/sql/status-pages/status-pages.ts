/** Status pages as people set them; what readers are shown is in reads.ts. */
import type { StatusPage } from "../../../model/status-page.ts";
import type { Database, Session } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { decoder } from "../schema/column.ts";
import { NOT_SEALED_YET, sealedFor } from "../schema/seal-new.ts";
import { STATUS_PAGES } from "../schema/status-page-tables.ts";
import type { Row } from "../schema/tables.ts";
import { storable, storableOrNull, toJson } from "../schema/text.ts";
import { MOST_PAGES, type PageWrite, type SealedPage, type StatusPages } from "./port.ts";
import { createPageReads } from "./reads.ts";
import { createUpdates } from "./updates.ts";

const decode = decoder(STATUS_PAGES);

/** What another page has stands in the way; the transaction is undone. */
export class Refused extends Error {
  readonly why: Exclude<PageWrite, { readonly type: "written" }>;

  constructor(why: Refused["why"]) {
    super(why.type);
    this.why = why;
  }
}

export function createStatusPages(database: Database): StatusPages {
  const { read, write } = database;
  return {
    create: (input) => refusedOr(write((session) => create(session, input))),
    update: (projectId, id, nowMs, decide) =>
      refusedOr(write((session) => update(session, { projectId, id, nowMs }, decide))),
    remove: (projectId, id) => write((session) => remove(session, projectId, id)),
    find: (projectId, id) => find(read, (rows) => rows.where("id", "=", id).where("project_id", "=", projectId)),
    findById: (id) => find(read, (rows) => rows.where("id", "=", id)),
    bySlug: (slug) => find(read, (rows) => rows.where("slug", "=", slug)),
    byBadge: (badgeName) => find(read, (rows) => rows.where("badge_name", "=", badgeName)),
    list: (projectId) => list(read, projectId),
    async domains() {
      const rows = await read.kysely
        .selectFrom("status_page_domains as d")
        .innerJoin("status_pages as p", "p.id", "d.status_page_id")
        .select(["d.domain", "p.slug"])
        .where("p.published", "=", 1)
        .execute();
      return new Map(rows.map(({ domain, slug }) => [domain, slug]));
    },
    ...createUpdates(database),
    ...createPageReads(database),
  };
}

async function refusedOr<Done>(work: Promise<Done>): Promise<Done | PageWrite> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Refused) return error.why;
    throw error;
  }
}

/** The generation is taken first: it makes writers of pages wait for each other, so a slug that is free stays free until the end. */
export async function create(
  session: Session,
  { projectId, page, badgeName, accessSealed, nowMs }: Parameters<StatusPages["create"]>[0],
): Promise<PageWrite> {
  await raiseGeneration(session);
  const { kysely } = session;
  const { total } = await kysely
    .selectFrom("status_pages")
    .where("project_id", "=", projectId)
    .select((of) => of.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  if (total >= MOST_PAGES) throw new Refused({ type: "too-many" });
  await refuseTaken(session, page.slug);
  const atMs = Math.round(nowMs);
  const { id } = await kysely
    .insertInto("status_pages")
    .values({
      ...columnsOf(page),
      project_id: projectId,
      badge_name: badgeName,
      access_sealed: NOT_SEALED_YET,
      created_at_ms: atMs,
      updated_at_ms: atMs,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  const sealed = { access_sealed: sealedFor(id, accessSealed) };
  await kysely.updateTable("status_pages").set(sealed).where("id", "=", id).execute();
  await setDomains(session, id, page.domains);
  const made = await find(session, (rows) => rows.where("id", "=", id));
  if (made === undefined) throw new Error("the page that was made is not there");
  return { type: "written", page: made };
}

interface Which {
  readonly projectId: number;
  readonly id: number;
  readonly nowMs: number;
}

/** @throws Refused */
export async function update(
  session: Session,
  { projectId, id, nowMs }: Which,
  decide: Parameters<StatusPages["update"]>[3],
): Promise<PageWrite | undefined> {
  await raiseGeneration(session);
  const before = await find(session, (rows) => rows.where("id", "=", id).where("project_id", "=", projectId));
  if (before === undefined) return undefined;
  const { page, accessSealed } = decide(before);
  if (page.slug !== before.slug) await refuseTaken(session, page.slug);
  // Each writing has a time of its own: callers know by it whether the page is still as they read it.
  const updatedAtMs = Math.max(Math.round(nowMs), before.updatedAtMs + 1);
  const columns = { ...columnsOf(page), access_sealed: accessSealed, updated_at_ms: updatedAtMs };
  await session.kysely.updateTable("status_pages").set(columns).where("id", "=", id).execute();
  await setDomains(session, id, page.domains);
  const after = await find(session, (rows) => rows.where("id", "=", id));
  return after && { type: "written", page: after };
}

/** @returns false when it was not there */
export async function remove(session: Session, projectId: number, id: number): Promise<boolean> {
  await raiseGeneration(session);
  // Its domains and updates go with it (on delete cascade).
  const gone = session.kysely.deleteFrom("status_pages").where("id", "=", id).where("project_id", "=", projectId);
  return (await gone.returning("id").execute()).length > 0;
}

function columnsOf(page: StatusPage) {
  return {
    slug: page.slug,
    title: storable(page.title),
    published: page.published ? 1 : 0,
    settings: toJson(page.settings),
    groups: toJson(page.groups),
    css: storableOrNull(page.css),
    logo: page.logo,
    access: page.access,
  } as const;
}

async function refuseTaken({ kysely }: Session, slug: string): Promise<void> {
  const other = await kysely.selectFrom("status_pages").select("id").where("slug", "=", slug).executeTakeFirst();
  if (other !== undefined) throw new Refused({ type: "slug-taken" });
}

async function setDomains({ kysely }: Session, pageId: number, domains: readonly string[]): Promise<void> {
  await kysely.deleteFrom("status_page_domains").where("status_page_id", "=", pageId).execute();
  for (const domain of domains) {
    const made = await kysely
      .insertInto("status_page_domains")
      .values({ domain, status_page_id: pageId })
      .onConflict((conflict) => conflict.doNothing())
      .returning("domain")
      .executeTakeFirst();
    if (made === undefined) throw new Refused({ type: "domain-taken", domain });
  }
}

function select({ kysely }: Session) {
  return kysely.selectFrom("status_pages").selectAll();
}

async function find(
  session: Session,
  chosen: (rows: ReturnType<typeof select>) => ReturnType<typeof select>,
): Promise<SealedPage | undefined> {
  const row = await chosen(select(session)).executeTakeFirst();
  if (row === undefined) return undefined;
  const domains = await session.kysely
    .selectFrom("status_page_domains")
    .select("domain")
    .where("status_page_id", "=", row.id)
    .orderBy("domain")
    .execute();
  return recordOf(
    row,
    domains.map(({ domain }) => domain),
  );
}

function recordOf(row: Row<"status_pages">, domains: readonly string[]): SealedPage {
  return { ...decode(row), domains, accessSealed: row.access_sealed };
}

async function list(session: Session, projectId: number | null): ReturnType<StatusPages["list"]> {
  const all = select(session).orderBy("slug");
  const rows = await (projectId === null ? all : all.where("project_id", "=", projectId)).execute();
  const domains = await session.kysely.selectFrom("status_page_domains").selectAll().orderBy("domain").execute();
  const byPage = new Map<number, string[]>();
  for (const { status_page_id: id, domain } of domains) byPage.set(id, [...(byPage.get(id) ?? []), domain]);
  return rows.map((row) => {
    const { accessSealed: _, ...record } = recordOf(row, byPage.get(row.id) ?? []);
    return record;
  });
}
