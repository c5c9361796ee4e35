/** The filter, kept in the address so that it can be sent and bookmarked, and the numbers that set it. */
import { useRef } from "preact/hooks";
import { isOn, withValue } from "../state/filter.ts";
import { STATUSES } from "../state/monitors.ts";
import { counts, filterLine, filterTerms, selected, shown } from "../state/project.ts";
import { replaceParameter } from "../state/route.ts";
import { number, t } from "../words/words.ts";
import { Icon } from "./icon.tsx";
import { StatusMark, statusWord } from "./status.tsx";

export function FilterLine() {
  const input = useRef<HTMLInputElement>(null);
  return (
    <search class="filter">
      <Icon name="search" size={16} />
      <input
        ref={input}
        type="search"
        id="filter"
        dir="auto"
        aria-label={t("filter.label")}
        placeholder={t("filter.placeholder")}
        autoComplete="off"
        spellcheck={false}
        value={filterLine.value}
        onInput={(event) => replaceParameter("q", event.currentTarget.value)}
      />
      {filterLine.value !== "" && (
        <button
          type="button"
          class="icon-button"
          aria-label={t("filter.clear")}
          onClick={() => {
            replaceParameter("q", "");
            input.current?.focus();
          }}
        >
          <Icon name="x" size={16} />
        </button>
      )}
      <span class="filter-count" role="status">
        {filterLine.value !== "" && shown.value !== null && t("filter.count", { n: selected.value.length })}
      </span>
    </search>
  );
}

/** Each a button that turns the filter of its status on and off. */
export function StatusCounts() {
  const now = counts.value;
  if (now === null) return null;
  return (
    <ul class="counts" aria-label={t("counts.label")}>
      {STATUSES.filter((status) => now[status] > 0).map((status) => {
        const next = withValue(filterLine.value, "status", status);
        return (
          <li key={status}>
            <button
              type="button"
              class={`count s-${status}`}
              aria-pressed={isOn(filterTerms.value, "status", status)}
              onClick={() => replaceParameter("q", next)}
            >
              <StatusMark status={status} />
              <b>{number(now[status])}</b> {statusWord(status)}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
