/** The lines of a status page, in groups: which monitors each line stands for. */
import type { Signal } from "@preact/signals";
import { SelectField, TextField } from "../parts/field.tsx";
import type { FormFault } from "../parts/form-fault.ts";
import { Icon } from "../parts/icon.tsx";
import { AddButton, IconButton } from "../parts/icon-button.tsx";
import { SelectorField } from "../parts/selector-field.tsx";
import { withAt } from "../state/with-at.ts";
import { t } from "../words/words.ts";

const OPENS = ["problems", "always", "never"] as const;
const MERGES = ["each", "worst", "share"] as const;

export interface FilledComponent {
  /** The monitors, as a filter. */
  readonly line: string;
  readonly title: string;
  readonly text: string;
  readonly merge: (typeof MERGES)[number];
}

export interface FilledGroup {
  readonly title: string;
  readonly open: (typeof OPENS)[number];
  readonly components: readonly FilledComponent[];
}

const FRESH: FilledComponent = { line: "", title: "", text: "", merge: "each" };

/** @returns what the API calls the fields of the groups */
export function namesOf(groups: readonly FilledGroup[]): readonly string[] {
  return groups.flatMap(({ components }, at) => [
    `groups.${at}.title`,
    ...components.flatMap((_, line) => ["servers", "title"].map((name) => `groups.${at}.components.${line}.${name}`)),
  ]);
}

export function Groups({ groups, fault }: { groups: Signal<readonly FilledGroup[]>; fault: FormFault }) {
  return (
    <>
      {groups.value.map((group, index) => (
        <Group
          key={index}
          number={index + 1}
          errorOf={(name) => fault.of(`groups.${index}.${name}`)}
          group={group}
          set={(next) => (groups.value = withAt(groups.value, index, next))}
        />
      ))}
      <div>
        <button
          type="button"
          class="button"
          onClick={() => (groups.value = [...groups.value, { title: "", open: "problems", components: [FRESH] }])}
        >
          <Icon name="plus" size={16} /> {t("page.groupAdd")}
        </button>
      </div>
    </>
  );
}

interface GroupProps {
  readonly number: number;
  /** By the name that a field has within the group. */
  readonly errorOf: (name: string) => string | null;
  readonly group: FilledGroup;
  readonly set: (group: FilledGroup | null) => void;
}

function Group({ number, errorOf, group, set }: GroupProps) {
  const setLines = (components: readonly FilledComponent[]) => set({ ...group, components });
  return (
    <section class="card form" aria-label={t("page.group", { n: number })}>
      <header class="card-head">
        <h2>{t("page.group", { n: number })}</h2>
        <IconButton icon="trash-2" label={t("page.groupRemove", { n: number })} act={() => set(null)} />
      </header>
      <div class="pair">
        <TextField
          label={t("page.groupTitle")}
          error={errorOf("title")}
          required
          value={group.title}
          onValue={(title) => set({ ...group, title })}
        />
        <SelectField
          label={t("page.groupOpen")}
          value={group.open}
          options={OPENS.map((word) => [word, t(`page.open.${word}`)] as const)}
          onValue={(open) => set({ ...group, open })}
        />
      </div>
      <ul class="lines" aria-label={t("page.lines")}>
        {group.components.map((component, index) => (
          <Component
            key={index}
            number={index + 1}
            errorOf={(name) => errorOf(`components.${index}.${name}`)}
            component={component}
            set={(next) => setLines(withAt(group.components, index, next))}
          />
        ))}
      </ul>
      <div>
        <AddButton small label={t("page.lineAdd")} act={() => setLines([...group.components, FRESH])} />
      </div>
    </section>
  );
}

interface ComponentProps {
  readonly number: number;
  /** By the name that a field has within the line. */
  readonly errorOf: (name: string) => string | null;
  readonly component: FilledComponent;
  readonly set: (component: FilledComponent | null) => void;
}

function Component({ number, errorOf, component, set }: ComponentProps) {
  const { line, title, merge } = component;
  return (
    <li class="page-line">
      <div class="pair">
        <SelectorField
          label={t("rule.which")}
          error={errorOf("servers")}
          value={line}
          onValue={(text) => set({ ...component, line: text })}
        />
        <SelectField
          label={t("page.merge")}
          value={merge}
          options={MERGES.map((word) => [word, t(`page.merge.${word}`)] as const)}
          onValue={(word) => set({ ...component, merge: word })}
        />
        <TextField
          label={merge === "each" ? `${t("page.lineTitle")} ${t("field.optional")}` : t("page.lineTitle")}
          hint={t("page.lineTitleHint")}
          error={errorOf("title")}
          required={merge !== "each"}
          value={title}
          onValue={(text) => set({ ...component, title: text })}
        />
      </div>
      <button
        type="button"
        class="icon-button"
        aria-label={t("page.lineRemove", { n: number })}
        onClick={() => set(null)}
      >
        <Icon name="x" size={16} />
      </button>
    </li>
  );
}
