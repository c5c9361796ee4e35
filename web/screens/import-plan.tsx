/** The plan of a document: what would be made, changed, taken over, removed, and what is refused. */
import type { Schemas } from "../api/client.ts";
import { Card } from "../parts/card.tsx";
import { Icon } from "../parts/icon.tsx";
import { canEdit } from "../state/session.ts";
import { t } from "../words/words.ts";

export type Plan = Schemas["DocumentPlan"];
type Change = Plan["changes"][number];

/** A plan of thousands is read in the document. */
export const MOST_SHOWN = 300;

const ACT_ICONS: Readonly<Record<Change["act"], string>> = {
  create: "plus",
  adopt: "link",
  change: "pencil",
  replace: "refresh-cw",
  remove: "trash-2",
  release: "info",
};
/** What was there before is gone after them. */
export const DESTROYING: ReadonlySet<string> = new Set(["replace", "remove"]);

export function countWords({ changes }: Plan): string {
  const countOf = (...acts: readonly Change["act"][]) => changes.filter(({ act }) => acts.includes(act)).length;
  return t("import.counts", {
    created: countOf("create"),
    updated: countOf("change", "adopt", "replace"),
    deleted: countOf("remove"),
  });
}

export function Outcome({ plan, ask }: { plan: Plan; ask: () => void }) {
  const { changes, refused } = plan;
  return (
    <Card id="plan" title={t("import.plan")} beside={<span class="faint">{countWords(plan)}</span>}>
      {changes.length === 0 && <p>{t("import.nothing")}</p>}
      <ul class="lines" aria-label={t("import.plan")}>
        {changes.slice(0, MOST_SHOWN).map(({ act, kind, key, name, fields, note }) => (
          <li class="line" key={`${act} ${kind} ${key}`}>
            <span class={DESTROYING.has(act) ? "s-down" : ""}>
              <Icon name={ACT_ICONS[act]} size={16} />
            </span>
            <div class="line-text">
              <span class="faint">{`${t(`import.act.${act}`)} · ${kind}`}</span> <b dir="auto">{name}</b>{" "}
              {name !== key && <code>{key}</code>}
              {fields.map((field) => (
                <p class="faint" dir="auto" key={field.field}>
                  {changeText(field)}
                </p>
              ))}
              {note !== undefined && <p dir="auto">{note}</p>}
            </div>
          </li>
        ))}
      </ul>
      {changes.length > MOST_SHOWN && <p class="hint">{t("import.more", { n: changes.length - MOST_SHOWN })}</p>}
      {refused.length > 0 && (
        <>
          <h3>{t("import.refused", { n: refused.length })}</h3>
          <ul class="plain-list">
            {refused.slice(0, MOST_SHOWN).map(({ path, line, message }) => (
              <li key={path} dir="auto">
                <b>{line === null ? path : `${path} (${line})`}</b>: {message}
              </li>
            ))}
          </ul>
        </>
      )}
      {changes.length > 0 && canEdit.value && (
        <div class="dialog-acts">
          <button type="button" class="button primary" onClick={ask}>
            {t("import.apply")}
          </button>
        </div>
      )}
    </Card>
  );
}

/** Values of a long text are in the document. */
const MOST_VALUE = 60;

function changeText({ field, from, to, secret }: Change["fields"][number]): string {
  if (secret === true) return `${field}: ***`;
  const text = (value: unknown) => {
    const json = value === undefined ? "–" : JSON.stringify(value);
    return json.length > MOST_VALUE ? `${json.slice(0, MOST_VALUE)}…` : json;
  };
  return from === undefined ? `${field}: ${text(to)}` : `${field}: ${text(from)} → ${text(to)}`;
}
