/** What stands in the place of what is not there: still loading, nothing yet, refused. */
import type { ComponentChildren } from "preact";
import type { Resource } from "../api/resource.ts";
import { t } from "../words/words.ts";
import { Icon } from "./icon.tsx";

/** Of the height that the content will have, so that nothing jumps. */
export function Skeleton({ rows = 4 }: { rows?: number }) {
  return (
    <div class="skeleton" role="status" aria-label={t("state.loading")}>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  );
}

export function Empty({ icon, title, children }: { icon: string; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} size={28} />
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function Failed({ message, again }: { message: string; again: () => void }) {
  return (
    <div class="failed" role="alert">
      <Icon name="triangle-alert" />
      <span>{message}</span>
      <button type="button" class="button small" onClick={again}>
        {t("act.tryAgain")}
      </button>
    </div>
  );
}

/** Draws a resource in each of its states; an error beside an older value keeps the value. */
export function Show<T>({
  resource,
  rows = 4,
  heading,
  children,
}: {
  resource: Resource<T>;
  rows?: number;
  /** Of the screen, until what is shown has its own. */
  heading?: string;
  children: (value: T) => ComponentChildren;
}) {
  const { value, error } = resource.state.value;
  return (
    <>
      {heading !== undefined && value === null && <h1 class="sr-only">{heading}</h1>}
      {error !== null && <Failed message={error} again={resource.reload} />}
      {value === null ? error === null && <Skeleton rows={rows} /> : children(value)}
    </>
  );
}
