/** Pages that a workspace shows to its own users. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Delete } from "../parts/delete.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { useFormFault } from "../parts/form-fault.ts";
import { Icon } from "../parts/icon.tsx";
import { AddButton, IconButton } from "../parts/icon-button.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { language } from "../state/prefs.ts";
import { go } from "../state/route.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";
import { zoneName } from "../words/zone.ts";

type Page = Schemas["StatusPageRow"];

/** @returns where its readers find it, below the same path of a proxy */
export function publicAddress(slug: string): string {
  return new URL(`status/${encodeURIComponent(slug)}`, location.href.replace(/#.*$/s, "")).href;
}

export function StatusPages() {
  const adding = useSignal(false);
  const deleting = useSignal<Page | null>(null);
  const list = useResource((signal) => data(client.GET("/status-pages", { signal })), "status-pages");
  const removed = deleting.value;
  const add = canEdit.value && <AddButton label={t("page.add")} act={() => (adding.value = true)} />;
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>{t("nav.statusPages")}</h1>
        {(list.state.value.value?.total ?? 0) > 0 && add}
      </header>
      <Show resource={list} rows={4}>
        {({ status_pages: pages }) =>
          pages.length === 0 ? (
            <Empty icon="globe" title={t("page.empty")}>
              <p>{t("page.emptyText")}</p>
              {add}
            </Empty>
          ) : (
            <ul class="card lines" aria-label={t("nav.statusPages")}>
              {pages.map((page) => (
                <Line key={page.id} page={page} remove={() => (deleting.value = page)} />
              ))}
            </ul>
          )
        }
      </Show>
      {adding.value && <Add close={() => (adding.value = false)} />}
      {removed !== null && (
        <Delete
          what="page"
          name={removed.title}
          close={() => (deleting.value = null)}
          act={() =>
            data(client.DELETE("/status-pages/{id}", { params: { path: { id: String(removed.id) } } })).then(
              list.reload,
            )
          }
        />
      )}
    </div>
  );
}

function Line({ page: { id, title, slug, published }, remove }: { page: Page; remove: () => void }) {
  return (
    <li class="line">
      <span class={published ? "s-healthy" : "s-paused"}>
        <Icon name="globe" size={20} />
      </span>
      <div class="line-text">
        <a class="strong" href={`#/status-pages/${id}`} dir="auto">
          {title}
        </a>{" "}
        <span class="tag quiet">{t(published ? "page.published" : "page.draft")}</span>
        <p class="faint">
          <bdi>{`/status/${slug}`}</bdi>
        </p>
      </div>
      <div class="acts">
        {published && (
          <a class="button small" href={publicAddress(slug)} target="_blank" rel="noreferrer">
            {t("page.open")} <Icon name="external-link" size={14} />
          </a>
        )}
        {canEdit.value && <IconButton icon="trash-2" label={t("act.deleteOf", { name: title })} act={remove} />}
      </div>
    </li>
  );
}

/** Of a title: what may stand in an address. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 63)
    .replace(/^-+|-+$/g, "");
}

/** Its readers have the language and the time zone of who makes it, until he says otherwise. */
function Add({ close }: { close: () => void }) {
  const title = useSignal("");
  const slug = useSignal<string | null>(null);
  const fault = useFormFault(["title", "slug"]);
  return (
    <Confirm
      title={t("page.add")}
      close={close}
      confirm={t("act.save")}
      fault={fault}
      act={async () => {
        const reader = { language: language.peek(), timezone: zoneName() };
        const body = { title: title.value, slug: slug.value ?? slugOf(title.value), groups: [ALL_GROUP()], ...reader };
        const { id } = await data(client.POST("/status-pages", { body: body as Schemas["CreateStatusPage"] }));
        go(`/status-pages/${id}`);
      }}
    >
      <TextField
        label={t("page.title")}
        error={fault.of("title")}
        required
        value={title.value}
        onValue={(text) => (title.value = text)}
      />
      <TextField
        label={t("page.slug")}
        hint={t("page.slugHint")}
        error={fault.of("slug")}
        required
        spellcheck={false}
        value={slug.value ?? slugOf(title.value)}
        onValue={(text) => (slug.value = text)}
      />
    </Confirm>
  );
}

/** A new page shows all monitors, a line each. */
const ALL_GROUP = () => ({
  title: t("nav.monitors"),
  open: "problems",
  components: [{ servers: { all: true }, title: null, text: "", merge: "each" }],
});
