/** Filters that a person has named: one press shows what they show. */
import { useSignal } from "@preact/signals";
import { filterLine } from "../state/project.ts";
import { route } from "../state/route.ts";
import { keepViews, views, withView } from "../state/views.ts";
import { t } from "../words/words.ts";
import { Confirm } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { Icon } from "./icon.tsx";

/** Nothing while there is neither a view nor a filter to keep. */
export function SavedViews() {
  const saving = useSignal(false);
  const name = useSignal("");
  const query = route.value.query.toString();
  const isKept = views.value.some((view) => view.query === query);
  const canKeep = filterLine.value !== "" && !isKept;
  if (views.value.length === 0 && !canKeep) return null;
  return (
    <div class="views">
      {views.value.length > 0 && (
        <ul class="counts" aria-label={t("views.label")}>
          {views.value.map((view) => (
            <li key={view.name} class={view.query === query ? "view on" : "view"}>
              <a href={`#/monitors?${view.query}`} dir="auto" aria-current={view.query === query ? "true" : undefined}>
                {view.name}
              </a>
              <button
                type="button"
                class="icon-button"
                aria-label={t("views.removeOf", { name: view.name })}
                onClick={() => keepViews(views.value.filter((one) => one !== view))}
              >
                <Icon name="x" size={14} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {canKeep && (
        <button type="button" class="button small" onClick={() => (saving.value = true)}>
          <Icon name="plus" size={14} /> {t("views.save")}
        </button>
      )}
      {saving.value && (
        <Confirm
          title={t("views.save")}
          close={() => (saving.value = false)}
          confirm={t("act.save")}
          act={async () => {
            keepViews(withView(views.value, { name: name.value, query }));
            name.value = "";
          }}
        >
          <TextField
            label={t("field.name")}
            hint={t("views.hint")}
            required
            maxLength={60}
            value={name.value}
            onValue={(text) => (name.value = text)}
          />
        </Confirm>
      )}
    </div>
  );
}
