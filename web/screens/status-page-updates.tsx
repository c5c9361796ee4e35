/** What the readers of a status page are told beside incidents. */
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { AreaField, SelectField, TextField } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { EditAndDelete } from "../parts/icon-button.tsx";
import { Show } from "../parts/states.tsx";
import { Moment } from "../parts/time.tsx";
import { useDraft } from "../state/drafts.ts";
import { attempt } from "../state/notices.ts";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";

const LEVELS = ["info", "maintenance", "warning", "outage", "resolved"] as const;
type Level = (typeof LEVELS)[number];
type Update = Schemas["StatusPageUpdate"];

interface Written {
  readonly level: Level;
  readonly title: string;
  readonly text: string;
  /** null: a new one. */
  readonly id: string | null;
}

const BLANK: Written = { level: "info", title: "", text: "", id: null };

export function PageUpdates({ id }: { id: string }) {
  const { value: written } = useDraft(`updates ${id}`, BLANK);
  const params = { path: { id } };
  const list = useResource(
    (signal) => data(client.GET("/status-pages/{id}/updates", { params, signal })),
    `updates ${id}`,
  );
  if (!canEdit.value) return null;
  const post = async () => {
    const { id: update, ...body } = written.value;
    const done = await attempt(
      () =>
        update === null
          ? data(client.POST("/status-pages/{id}/updates", { params, body }))
          : data(client.PUT("/status-pages/{id}/updates/{update}", { params: { path: { id, update } }, body })),
      t("page.updatePosted"),
    );
    if (!done) return;
    written.value = BLANK;
    list.reload();
  };
  const remove = (update: string) =>
    void attempt(
      () => data(client.DELETE("/status-pages/{id}/updates/{update}", { params: { path: { id, update } } })),
      t("page.updateDeleted"),
    ).then((done) => done && list.reload());
  return (
    <section class="card form" aria-labelledby="updates">
      <h2 id="updates">{t("page.update")}</h2>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady(written.value)) void post();
        }}
      >
        <Fields written={written.value} write={(change) => (written.value = { ...written.value, ...change })} />
        <Buttons written={written.value} drop={() => (written.value = BLANK)} />
      </form>
      <Show resource={list} rows={2}>
        {({ updates }) => (
          <ul class="lines" aria-label={t("page.update")}>
            {updates.map((update) => (
              <Line
                key={update.id}
                update={update}
                edit={() => {
                  const { level, title, text, id: which } = update;
                  written.value = { level, title, text, id: which };
                }}
                remove={() => remove(update.id)}
              />
            ))}
          </ul>
        )}
      </Show>
    </section>
  );
}

const isReady = ({ title }: Written): boolean => title.trim() !== "";

function Buttons({ written, drop }: { written: Written; drop: () => void }) {
  const { id } = written;
  return (
    <div class="acts">
      <button type="submit" class="button" aria-disabled={!isReady(written)}>
        {t(id === null ? "note.post" : "act.save")}
      </button>
      {id !== null && (
        <button type="button" class="button" onClick={drop}>
          {t("act.cancel")}
        </button>
      )}
    </div>
  );
}

function Fields({
  written: { level, title, text },
  write,
}: {
  written: Written;
  write: (change: Partial<Written>) => void;
}) {
  return (
    <>
      <div class="pair">
        <SelectField
          label={t("page.level")}
          value={level}
          options={LEVELS.map((word) => [word, t(`page.level.${word}`)] as const)}
          onValue={(word) => write({ level: word })}
        />
        <TextField label={t("page.updateTitle")} value={title} onValue={(word) => write({ title: word })} />
      </div>
      <AreaField
        label={t("page.updateText")}
        hint={t("page.textHint")}
        rows={3}
        value={text}
        onValue={(text) => write({ text })}
      />
    </>
  );
}

function Line({
  update: { level, title, text, at },
  edit,
  remove,
}: {
  update: Update;
  edit: () => void;
  remove: () => void;
}) {
  return (
    <li class="line">
      <Icon name="file-text" size={16} />
      <div class="line-text">
        <b dir="auto">{title}</b> <span class="tag quiet">{t(`page.level.${level}`)}</span>
        {text !== "" && (
          <p class="cut-2" dir="auto">
            {text}
          </p>
        )}
        <p class="faint">
          <Moment at={at} />
        </p>
      </div>
      <div class="acts">
        <EditAndDelete name={title} edit={edit} remove={remove} />
      </div>
    </li>
  );
}
