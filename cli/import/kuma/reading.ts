import type { Draft } from "../draft.ts";

/** What readers of one monitor need beside its row. */
export interface ReadingMonitor {
  readonly draft: Draft;
  /** Before the end of a certificate or a domain. */
  readonly days: { readonly certificate: number; readonly domain: number };
  readonly proxies: ReadonlySet<number>;
}
