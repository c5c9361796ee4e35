/** What a document would do to status pages. A password is compared with its hash, and never shown. */
import { isDeepStrictEqual } from "node:util";
import type { Document, StatusPageEntry } from "../../model/document/document.ts";
import { formatId } from "../../model/ids.ts";
import type { StatusPage } from "../../model/status-page.ts";
import type { AccessSecrets } from "../../model/status-page-reader.ts";
import { MOST_PAGES, type SealedPage, type StatusPageRecord } from "../../store/sql/status-pages/port.ts";
import { readBody } from "../endpoints/status-pages.ts";
import { ApiError, badRequest, refusal, wordsOf } from "../errors.ts";
import { changedSecrets } from "../pages/record.ts";
import {
  hashedPassword,
  isPassword,
  newBadgeName,
  newSecrets,
  openedSecrets,
  sealedSecrets,
} from "../pages/secrets.ts";
import type { DraftPlan, Path } from "./draft-plan.ts";
import { statusPageEntry } from "./entries.ts";
import type { References } from "./references.ts";
import { type Found, Things, type Wanted } from "./things.ts";

/** Stands for selectors, which are read by keys. */
const ANY_MONITOR = { all: true } as const;

export async function planStatusPages(plan: DraftPlan, document: Document, references: References): Promise<void> {
  const { statusPages } = plan.api.controlPlane;
  const entries = Object.entries(document.status_pages ?? {});
  const projectId = plan.call.project.id;
  const records = await statusPages.list(projectId);
  // Slugs and domains are unique in the service.
  const all = entries.length === 0 ? [] : await statusPages.list(null);
  const planner = new PagePlanner(plan, records, all, references);
  planner.leave(new Set(entries.map(([key]) => key)));
  for (const [key, entry] of entries) await planner.plan(key, entry);
}

interface ReadPage {
  readonly page: StatusPage;
  readonly secrets: AccessSecrets;
}

class PagePlanner {
  readonly #plan: DraftPlan;
  readonly #things: Things<StatusPageRecord>;
  readonly #references: References;
  /** By slug and by domain: the id of the page, or the key of one that is to be made. */
  readonly #holders = new Map<string, number | string>();

  constructor(
    plan: DraftPlan,
    records: readonly StatusPageRecord[],
    all: readonly StatusPageRecord[],
    references: References,
  ) {
    this.#plan = plan;
    const [, message] = wordsOf("statusPagesTooMany");
    this.#things = new Things(plan, "status_page", records, { most: MOST_PAGES, message });
    this.#references = references;
    for (const { id, slug, domains } of all) for (const name of [slug, ...domains]) this.#holders.set(name, id);
  }

  leave(keys: ReadonlySet<string>): void {
    const describe = ({ id, title }: StatusPageRecord) => ({ id: formatId("statusPage", id), name: title });
    for (const { id, slug, domains, updatedAtMs: version } of this.#things.leave(keys, describe)) {
      for (const name of [slug, ...domains]) this.#holders.delete(name);
      this.#plan.pages.remove.push({ id, version });
      this.#plan.pageSlugs.push(slug);
    }
  }

  async plan(key: string, entry: StatusPageEntry): Promise<void> {
    const wanted: Wanted = { kind: "status_page", key, path: ["status_pages", key], entry: { ...entry } };
    const isSame = ({ slug }: StatusPageRecord): boolean => slug === (entry.slug ?? key);
    await this.#things.each(wanted, isSame, async ({ act, now: record }) => {
      const { statusPages } = this.#plan.api.controlPlane;
      const now = record === null ? undefined : await statusPages.find(this.#plan.call.project.id, record.id);
      const read = this.#plan.attempt(wanted, entry, () => this.#read(wanted, entry, now ?? null));
      if (read === undefined || read === null) return;
      this.#takeNames(key, read.page, now);
      if (now === undefined) await this.#create(wanted, read);
      else await this.#change(wanted, read, now, act);
    });
  }

  /** @throws 400 */
  #read({ key, path }: Wanted, entry: StatusPageEntry, now: SealedPage | null): ReadPage | null {
    const groups = entry.groups.map((group) => ({
      ...group,
      components: group.components.map(({ select: _, ...component }) => ({ ...component, servers: ANY_MONITOR })),
    }));
    const defaults = now === null ? { slug: key, title: key } : {};
    const unknown = Object.keys(entry).find((field) => !KNOWN_FIELDS.has(field));
    if (unknown !== undefined) throw badRequest(`${unknown.slice(0, 60)}: there is no such field here.`);
    const { page, secrets } = readBody(this.#plan.api, { ...defaults, ...entry, groups }, now);
    if (secrets.rotate) throw badRequest("access: rotate is no setting: the API makes a link anew.");
    const withSelectors = this.#withSelectors(page, entry, path);
    return withSelectors === null ? null : { page: withSelectors, secrets };
  }

  #withSelectors(page: StatusPage, entry: StatusPageEntry, path: Path): StatusPage | null {
    let isWhole = true;
    const groups = page.groups.map((group, place) => ({
      ...group,
      components: group.components.map((component, index) => {
        const select = entry.groups[place]?.components[index]?.select ?? {};
        const at = [...path, "groups", place, "components", index, "select"];
        const servers = this.#references.selector(select, at);
        if (servers === null) isWhole = false;
        return { ...component, servers: servers ?? ANY_MONITOR };
      }),
    }));
    return isWhole ? { ...page, groups } : null;
  }

  /** @throws 409 */
  #takeNames(key: string, { slug, domains }: StatusPage, now: SealedPage | undefined): void {
    const isOthers = (name: string): boolean => {
      const holder = this.#holders.get(name);
      return holder !== undefined && holder !== (now?.id ?? key);
    };
    if (isOthers(slug)) throw refusal("slugTaken");
    const taken = domains.find(isOthers);
    if (taken !== undefined) throw new ApiError(409, `Another page has the domain ${taken}.`);
    for (const name of [slug, ...domains]) this.#holders.set(name, now?.id ?? key);
  }

  async #create(wanted: Wanted, { page, secrets: sent }: ReadPage): Promise<void> {
    const { sealing } = this.#plan.api;
    const password = sent.password === null ? null : await hashedPassword(sent.password);
    const secrets = { ...newSecrets(), password };
    const after = statusPageEntry(page, this.#references.names);
    const managed = this.#things.describe(wanted, "create", {
      id: null,
      name: page.title,
      before: {},
      after,
      secret: password === null ? [] : ["password"],
    });
    if (managed === null) return;
    this.#plan.pageSlugs.push(page.slug);
    const accessSealed = (id: number): string => sealedSecrets(sealing, id, secrets);
    this.#plan.pages.create.push({ ...managed, input: { page, badgeName: newBadgeName(), accessSealed } });
  }

  async #change(
    wanted: Wanted,
    { page, secrets: sent }: ReadPage,
    now: SealedPage,
    act: Found<StatusPageRecord>["act"],
  ): Promise<void> {
    const { sealing } = this.#plan.api;
    const opened = openedSecrets(sealing, now);
    const isNew = sent.password !== null && !(await isPassword(opened, sent.password));
    const { names } = this.#references;
    const [before, after] = [statusPageEntry(now, names), statusPageEntry(page, names)];
    const managed = this.#things.describe(wanted, act, {
      id: formatId("statusPage", now.id),
      name: page.title,
      before,
      after,
      secret: isNew ? ["password"] : [],
    });
    if (managed === null) return;
    const isChanged = isNew || !isDeepStrictEqual(before, after);
    const password = isNew && sent.password !== null ? await hashedPassword(sent.password) : null;
    const accessSealed = sealedSecrets(sealing, now.id, changedSecrets(opened, sent, page, password));
    this.#plan.pageSlugs.push(now.slug, page.slug);
    this.#plan.pages.change.push({
      id: now.id,
      version: now.updatedAtMs,
      managed,
      change: isChanged ? { page, accessSealed } : null,
    });
  }
}

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "slug",
  "title",
  "published",
  "domains",
  "access",
  "groups",
  "css",
  "logo",
  "text",
  "listed",
  "index",
  "timezone",
  "language",
  "theme",
  "accent",
  "links",
  "frame",
  "days",
  "show",
]);
