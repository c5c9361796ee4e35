import sprite from "../look/icons.svg?no-inline";

/** They point somewhere: where text runs from right to left, they point the other way. */
const DIRECTED: ReadonlySet<string> = new Set([
  "chevron-left",
  "chevron-right",
  "arrow-right",
  "external-link",
  "log-out",
  "list",
]);

/** Names of web/look/icons.json. */
export function Icon({ name, size = 18 }: { name: string; size?: number }) {
  return (
    <svg
      class={DIRECTED.has(name) ? "icon directed" : "icon"}
      width={size}
      height={size}
      aria-hidden="true"
      focusable="false"
    >
      <use href={`${sprite}#${name}`} />
    </svg>
  );
}
