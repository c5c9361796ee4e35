/** Tabs whose choice stands in the address (ARIA: tabs, activated by hand). */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { go } from "../state/route.ts";

export interface Tab {
  /** Its address. */
  readonly path: string;
  readonly title: string;
}

/** The address of the tab that a person has just chosen: with it the screen is drawn anew, and the focus would be lost. */
let chosen: string | null = null;

export function Tabs({
  label,
  tabs,
  current,
  children,
}: {
  label: string;
  tabs: readonly Tab[];
  current: string;
  children: ComponentChildren;
}) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (chosen === current) list.current?.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
    chosen = null;
  }, [current]);
  const move = (event: KeyboardEvent) => {
    const forward = getComputedStyle(event.currentTarget as Element).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    const buttons = [...(list.current?.querySelectorAll<HTMLElement>("[role=tab]") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    buttons[(at + (event.key === forward ? 1 : -1) + buttons.length) % buttons.length]?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map(({ path, title }) => (
          <button
            key={path}
            type="button"
            role="tab"
            id={`tab-${path}`}
            class="tab"
            aria-selected={path === current}
            aria-controls="tab-panel"
            tabIndex={path === current ? 0 : -1}
            onClick={() => {
              chosen = path;
              go(path);
            }}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${current}`} class="tab-panel">
        {children}
      </div>
    </>
  );
}
