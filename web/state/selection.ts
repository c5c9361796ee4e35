/** Which monitors are selected for an act on many of them. */
import { computed, signal } from "@preact/signals";
import { selected, shown } from "./project.ts";

/** One request is about so many at most. */
const MOST_SELECTED = 10_000;

const chosen = signal<ReadonlySet<string>>(new Set());

/** Those that are still there. */
export const chosenIds = computed<ReadonlySet<string>>(() => {
  const byId = shown.value?.byId;
  return byId === undefined ? new Set() : new Set([...chosen.value].filter((id) => byId.has(id)));
});

/** How many of those the filter hides: an act is on them too. */
export const hiddenChosen = computed(
  () => chosenIds.value.size - selected.value.reduce((sum, { id }) => sum + Number(chosen.value.has(id)), 0),
);

/** Whether everything that the filter leaves is selected. */
export const areAllChosen = computed(
  () => selected.value.length > 0 && selected.value.every(({ id }) => chosen.value.has(id)),
);

export function choose(id: string, isChosen: boolean): void {
  const next = new Set(chosen.value);
  if (isChosen) next.add(id);
  else next.delete(id);
  chosen.value = next;
}

/** Those that the filter leaves, or none at all. */
export function chooseAll(isChosen: boolean): void {
  chosen.value = new Set(isChosen ? selected.value.slice(0, MOST_SELECTED).map(({ id }) => id) : []);
}
