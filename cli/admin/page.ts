/** `sonde admin page`: status pages of every project (docs/use/status-pages.md). */
import { formatId, parseId } from "../../model/ids.ts";
import { formatIso } from "../../model/time.ts";
import type { SealedPage, StatusPageRecord } from "../../store/sql/status-pages/port.ts";
import { CommandError } from "../command.ts";
import { shorten } from "../table.ts";
import { type Act, type ActGroup, idOf, listText } from "./act.ts";
import type { AdminStores } from "./stores.ts";

const TITLE_COLUMNS = 40;

const list: Act = {
  usage: "list",
  summary: "the status pages of a project, or of all",
  options: [["--project <id>", "of which project; without it of all"]],
  example: "page list --json",
  async run({ controlPlane }, options) {
    const projectId = options.project === undefined ? null : idOf("project", options.project, "--project");
    const pages = (await controlPlane.statusPages.list(projectId)).map(view);
    const head = [
      "id",
      "slug",
      { head: "title", least: 12 },
      { head: "project", dropped: 2 },
      "state",
      { head: "access", dropped: 3 },
      { head: "domains", least: 12, dropped: 1 },
    ];
    const rows = pages.map((one) => [
      one.id,
      one.slug,
      shorten(one.title, TITLE_COLUMNS),
      one.project_id,
      one.published ? "published" : "draft",
      one.access,
      one.domains.join(" "),
    ]);
    return { facts: { status_pages: pages, total: pages.length }, text: listText("status pages", head, rows) };
  },
};

const show: Act = {
  usage: "show <page>",
  summary: "one of them, by id or by slug",
  example: "page show acme",
  async run({ controlPlane }, _words, [text]) {
    const found = await pageOf(controlPlane, text);
    const lines = found.groups.reduce((sum, group) => sum + group.components.length, 0);
    const facts = { ...view(found), groups: found.groups.length, components: lines };
    const rows = Object.entries(facts).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(" ") : String(value),
    ]);
    return { facts, text: listText("facts", ["", { head: "", least: 20 }], rows) };
  },
};

const publish: Act = {
  usage: "publish <page>",
  summary: "let its readers see it, or with --off make it a draft again",
  options: [["--off", "make it a draft"]],
  example: "page publish acme",
  async run({ controlPlane, nowMs }, options, [text]) {
    const { id, projectId, slug } = await pageOf(controlPlane, text);
    const published = options.off !== true;
    const written = await controlPlane.statusPages.update(projectId, id, nowMs, (before) => ({
      page: { ...before, published },
      accessSealed: before.accessSealed,
    }));
    if (written?.type !== "written") throw new CommandError(`there is no status page ${slug} any more`);
    const words = published ? `is published: /status/${slug}` : "is a draft";
    return { facts: { id: formatId("statusPage", id), slug, published }, text: `${slug} ${words}` };
  },
};

const remove: Act = {
  usage: "rm <page>",
  summary: "delete it, with its announcements",
  example: "page rm acme",
  async run({ controlPlane }, _words, [text]) {
    const { id, projectId, slug } = await pageOf(controlPlane, text);
    if (!(await controlPlane.statusPages.remove(projectId, id)))
      throw new CommandError(`there is no status page ${slug} any more`);
    return { facts: { id: formatId("statusPage", id), slug, deleted: true }, text: `${slug} is deleted` };
  },
};

/** By id, or by slug. */
async function pageOf({ statusPages }: AdminStores["controlPlane"], text: unknown): Promise<SealedPage> {
  const word = String(text);
  const id = /^spg_/.test(word) ? parseId("statusPage", word) : undefined;
  const found = id === undefined ? await statusPages.bySlug(word) : await statusPages.findById(id);
  if (found === undefined) throw new CommandError(`there is no status page ${word}: sonde admin page list shows them`);
  return found;
}

function view(page: StatusPageRecord) {
  return {
    id: formatId("statusPage", page.id),
    project_id: formatId("project", page.projectId),
    slug: page.slug,
    title: page.title,
    published: page.published,
    access: page.access,
    listed: page.settings.listed,
    domains: page.domains,
    created_at: formatIso(page.createdAtMs),
    updated_at: formatIso(page.updatedAtMs),
  };
}

export const page: ActGroup = {
  name: "page",
  summary: "status pages for the public",
  acts: [list, show, publish, remove],
};
