/** A table of as many rows as one request brings. */
import type { ComponentChildren } from "preact";
import { t } from "../words/words.ts";
import { Scroll } from "./scroll.tsx";

interface TableProps {
  readonly label: string;
  readonly heads: readonly string[];
  /** The last cell of each row has buttons. */
  readonly hasActs?: boolean;
  readonly look?: string;
  readonly children: ComponentChildren;
}

export function Table({ label, heads, hasActs = false, look = "", children }: TableProps) {
  return (
    <Scroll label={label}>
      <table class={`table ${look}`.trim()} aria-label={label}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col" key={head}>
                {head}
              </th>
            ))}
            {hasActs && (
              <th scope="col">
                <span class="sr-only">{t("col.acts")}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Scroll>
  );
}
