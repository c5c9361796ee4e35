/** Filters that people have named: one press shows what they show. The service has them, so they are the same in every browser. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { type Resource, useResource } from "../api/resource.ts";
import { filterLine } from "../state/project.ts";
import { route } from "../state/route.ts";
import { canEdit, project } from "../state/session.ts";
import { t } from "../words/words.ts";
import { Confirm } from "./dialog.tsx";
import { CheckField, TextField } from "./field.tsx";
import { useFormFault } from "./form-fault.ts";
import { Icon } from "./icon.tsx";
import { AddButton } from "./icon-button.tsx";
import { Failed } from "./states.tsx";

/** Another browser, or a colleague, may have saved one. */
const RELOAD_MS = 60_000;

type View = Schemas["View"];
type Open = { readonly kind: "save" } | { readonly kind: "remove"; readonly view: View };

/** Nothing while there is neither a view nor a filter to keep. */
export function SavedViews() {
  const open = useSignal<Open | null>(null);
  const kept: Resource<Schemas["ViewList"]> = useResource(
    (signal) => data(client.GET("/views", { signal })),
    `views ${project.value?.id}`,
    RELOAD_MS,
  );
  const { value, error } = kept.state.value;
  const views = value?.views ?? [];
  const { path } = route.value;
  const query = route.value.query.toString();
  const canKeep =
    value !== null &&
    (filterLine.value !== "" || route.value.query.has("columns")) &&
    !views.some((view) => view.query === query);
  const close = () => {
    open.value = null;
  };
  if (error !== null && value === null) return <Failed message={error} again={kept.reload} />;
  if (views.length === 0 && !canKeep) return null;
  return (
    <div class="views">
      {views.length > 0 && (
        <ul class="counts" aria-label={t("views.label")}>
          {views.map((view) => (
            <Chip
              key={view.id}
              view={view}
              path={path}
              isOn={view.query === query}
              remove={() => (open.value = { kind: "remove", view })}
            />
          ))}
        </ul>
      )}
      {canKeep && <AddButton small label={t("views.save")} act={() => (open.value = { kind: "save" })} />}
      {open.value?.kind === "save" && <Save query={query} close={close} saved={kept.reload} />}
      {open.value?.kind === "remove" && <Remove view={open.value.view} close={close} removed={kept.reload} />}
    </div>
  );
}

interface ChipProps {
  readonly view: View;
  /** Of the screen, which shows what the view selects. */
  readonly path: string;
  readonly isOn: boolean;
  readonly remove: () => void;
}

function Chip({ view: { name, query, shared }, path, isOn, remove }: ChipProps) {
  return (
    <li class={isOn ? "view on" : "view"}>
      {shared && <Icon name="users" size={14} />}
      <a
        href={`#${path}?${query}`}
        dir="auto"
        title={shared ? `${name} · ${t("views.shared")}` : name}
        aria-current={isOn ? "true" : undefined}
      >
        {name}
      </a>
      {(!shared || canEdit.value) && (
        <button type="button" class="icon-button" aria-label={t("views.removeOf", { name })} onClick={remove}>
          <Icon name="x" size={14} />
        </button>
      )}
    </li>
  );
}

function Save({ query, close, saved }: { query: string; close: () => void; saved: () => void }) {
  const name = useSignal("");
  const shared = useSignal(false);
  const fault = useFormFault(["name"]);
  return (
    <Confirm
      title={t("views.save")}
      close={close}
      confirm={t("act.save")}
      fault={fault}
      act={async () => {
        await data(client.POST("/views", { body: { name: name.value, query, shared: shared.value } }));
        saved();
      }}
    >
      <TextField
        label={t("field.name")}
        error={fault.of("name")}
        hint={t("views.hint")}
        required
        maxLength={60}
        value={name.value}
        onValue={(text) => (name.value = text)}
      />
      {canEdit.value && (
        <CheckField
          label={t("views.shared")}
          checked={shared.value}
          onChecked={(checked) => (shared.value = checked)}
        />
      )}
    </Confirm>
  );
}

function Remove({
  view: { id, name, shared },
  close,
  removed,
}: {
  view: View;
  close: () => void;
  removed: () => void;
}) {
  return (
    <Confirm
      title={t("views.remove")}
      close={close}
      confirm={t("views.remove")}
      danger
      act={async () => {
        await data(client.DELETE("/views/{id}", { params: { path: { id } } }));
        removed();
      }}
    >
      <p>{t(shared ? "views.removeShared" : "views.removeOwn", { name })}</p>
    </Confirm>
  );
}
