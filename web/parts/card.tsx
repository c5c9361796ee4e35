/** A part of a screen that has a heading of its own. */
import type { ComponentChildren } from "preact";

interface Props {
  /** Of the heading; the only one on its screen. */
  readonly id: string;
  readonly title: string;
  /** What stands beside the heading. */
  readonly beside?: ComponentChildren;
  /** What is in it is bad news. */
  readonly isBad?: boolean;
  readonly children: ComponentChildren;
}

export function Card({ id, title, beside, isBad = false, children }: Props) {
  return (
    <section class={isBad ? "card bad" : "card"} aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id}>{title}</h2>
        {beside}
      </header>
      {children}
    </section>
  );
}
