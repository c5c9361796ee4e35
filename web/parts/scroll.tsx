import type { ComponentChildren } from "preact";

/** What is wider than a phone scrolls sideways, and can be reached by keyboard to do so. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="scroll-x" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
