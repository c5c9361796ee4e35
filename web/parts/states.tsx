/** What stands in the place of what is not there: still loading, nothing yet, refused. */
import type { ComponentChildren } from "preact";
import type { Resource } from "../api/resource.ts";
import { type Key, t } from "../words/words.ts";
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
  children,
}: {
  resource: Resource<T>;
  rows?: number;
  children: (value: T) => ComponentChildren;
}) {
  const { value, error } = resource.state.value;
  return (
    <>
      {error !== null && <Failed message={error} again={resource.reload} />}
      {value === null ? error === null && <Skeleton rows={rows} /> : children(value)}
    </>
  );
}

/** A screen that others lead to. */
export interface Parent {
  readonly path: string;
  readonly title: Key;
}

export function BackLink({ path, title }: Parent) {
  return (
    <p class="back">
      <a href={`#${path}`}>
        <Icon name="chevron-left" size={16} />
        {t(title)}
      </a>
    </p>
  );
}

/** A screen about one thing of a list. What is not there, or no longer, cannot be asked for again: only the list leads on. */
export function ShowOne<T>({
  resource,
  rows,
  list,
  children,
}: {
  resource: Resource<T>;
  rows: number;
  list: Parent;
  children: (value: T) => ComponentChildren;
}) {
  const { value, error, isMissing } = resource.state.value;
  return (
    <>
      <BackLink {...list} />
      {(value === null || isMissing) && <h1 class="sr-only">{t(list.title)}</h1>}
      {isMissing ? (
        <div class="failed" role="alert">
          <Icon name="triangle-alert" />
          <span dir="auto">{error}</span>
          <a class="button small" href={`#${list.path}`}>
            {t("state.toList", { name: t(list.title) })}
          </a>
        </div>
      ) : (
        <Show resource={resource} rows={rows}>
          {children}
        </Show>
      )}
    </>
  );
}
