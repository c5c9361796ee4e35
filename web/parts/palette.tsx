/** Ctrl-K: finds monitors and screens by a few letters. A combobox with a list below it (ARIA 1.2). */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { SCREENS } from "../screens/index.ts";
import type { Status } from "../state/monitors.ts";
import { paletteOpen } from "../state/palette-open.ts";
import { shown } from "../state/project.ts";
import { go } from "../state/route.ts";
import { t } from "../words/words.ts";
import { useModal } from "./dialog.tsx";
import { Icon } from "./icon.tsx";
import { StatusMark } from "./status.tsx";

const MOST_FOUND = 12;

interface Found {
  readonly path: string;
  readonly label: string;
  readonly detail: string;
  readonly status: Status | null;
}

function find(text: string): readonly Found[] {
  const wanted = text.trim().toLowerCase();
  // Those that are about one thing are found by its name.
  const screens = SCREENS.filter(({ pattern }) => !pattern.includes(":")).map(({ pattern, title }) => ({
    path: pattern,
    label: t(title),
    detail: t("palette.screen"),
    status: null,
  }));
  const matching = screens.filter(({ label }) => label.toLowerCase().includes(wanted));
  const monitors: Found[] = [];
  for (const { id, name, kind, status, subject } of shown.value?.entries ?? []) {
    if (monitors.length >= MOST_FOUND) break;
    if (wanted !== "" && (subject.name.includes(wanted) || id === wanted))
      monitors.push({ path: `/monitors/${id}`, label: name, detail: kind, status });
  }
  return [...monitors, ...matching].slice(0, MOST_FOUND);
}

function closePalette(): void {
  paletteOpen.value = false;
}

/** @returns where an arrow leads in the list; 0 for every other key */
function stepOf(key: string): number {
  return key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
}

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const text = useSignal("");
  const at = useSignal(0);
  useModal(dialog);
  const found = find(text.value);
  const open = (one: Found | undefined) => {
    if (one === undefined) return;
    closePalette();
    go(one.path);
  };
  const key = (event: KeyboardEvent) => {
    const step = stepOf(event.key);
    // What is typed counts, although a quick Enter comes before the list is drawn for it.
    if (event.key === "Enter") open(find(text.value)[at.value]);
    else if (step !== 0) at.value = Math.min(Math.max(at.value + step, 0), Math.max(found.length - 1, 0));
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label={t("palette.label")}
      onCancel={(event) => {
        event.preventDefault();
        closePalette();
      }}
      onClick={(event) => event.target === dialog.current && closePalette()}
      onKeyDown={() => {}}
    >
      <div class="palette-line">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label={t("palette.label")}
          aria-expanded={found.length > 0}
          aria-controls="palette-list"
          aria-activedescendant={found.length > 0 ? `found-${at.value}` : undefined}
          aria-autocomplete="list"
          autoComplete="off"
          spellcheck={false}
          placeholder={t("palette.placeholder")}
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            at.value = 0;
          }}
          onKeyDown={key}
        />
      </div>
      <FoundList found={found} at={at.value} open={open} />
      {found.length === 0 && <p class="hint">{t("palette.none")}</p>}
    </dialog>
  );
}

function FoundList({ found, at, open }: { found: readonly Found[]; at: number; open: (one: Found) => void }) {
  return (
    <div id="palette-list" role="listbox" aria-label={t("palette.found")}>
      {found.map((one, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field above
        // biome-ignore lint/a11y/useFocusableInteractive: the field above has the focus
        <div key={one.path} id={`found-${index}`} role="option" aria-selected={index === at} onClick={() => open(one)}>
          {one.status === null ? <Icon name="chevron-right" size={16} /> : <StatusMark status={one.status} />}
          <span class="cut">{one.label}</span>
          <span class="faint">{one.detail}</span>
        </div>
      ))}
    </div>
  );
}
