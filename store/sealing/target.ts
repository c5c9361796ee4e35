/** A website's address in two forms: what every user may see, in the settings, and the whole, which is sealed. */
import type { Monitor } from "../../model/monitor.ts";
import { displayAddress } from "../../model/web-address.ts";
import { SEALED_CELLS, type SealedCell } from "../sealed-cells.ts";
import type { Sealing } from "../sealed-text.ts";

type Open = (where: SealedCell, sealed: string) => string;

/**
 * The monitor with its whole address. Where the sealed one shows otherwise than `url`, `url` is later: a process of an earlier version
 * wrote it.
 * @throws StoreError naming the row when it does not open
 */
export function openTarget(monitor: Monitor, open: Open): Monitor {
  const { id, settings, urlSealed } = monitor;
  const { url } = settings;
  // What hides nothing, and what is in clear, is whole.
  if (typeof urlSealed !== "string" || typeof url !== "string" || displayAddress(url) !== url) return monitor;
  const whole = open(SEALED_CELLS.target(id), urlSealed);
  return displayAddress(whole) === url ? { ...monitor, settings: { ...settings, url: whole } } : monitor;
}

export interface StoredTarget {
  readonly settings: Monitor["settings"];
  /** null: there is nothing to hide, or no process may seal it yet. */
  readonly seal: ((id: number) => string) | null;
}

/** What is stored of settings with a whole address. */
export function storedTarget(
  settings: Monitor["settings"],
  sealing: Pick<Sealing, "seal" | "bindsRows">,
): StoredTarget {
  const { url } = settings;
  if (typeof url !== "string" || !sealing.bindsRows) return { settings, seal: null };
  const display = displayAddress(url);
  if (display === url) return { settings, seal: null };
  return { settings: { ...settings, url: display }, seal: (id) => sealing.seal(SEALED_CELLS.target(id), url) };
}
