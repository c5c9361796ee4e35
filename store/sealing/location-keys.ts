/** Locations with their keys, in the memory of a process that has the operator's sealing key: schedulers and APIs. */
import { SEALED_CELLS } from "../sealed-cells.ts";
import type { Sealing } from "../sealed-text.ts";
import type { Location, Locations } from "../sql/coordination/locations-port.ts";
import { keyRingOf } from "./keys.ts";
import { sealingWith } from "./sealing.ts";

export interface LocationKeys {
  /** Codes of all locations whose checkers are processes of their own. */
  codes(): readonly string[];
  /** @returns undefined when there is no such location, or its key cannot be opened */
  sealingOf(code: string): Sealing | undefined;
  /** Reads the locations again: the operator may have changed them. */
  refresh(): Promise<void>;
  close(): void;
}

export interface LocationKeysOptions {
  readonly locations: Pick<Locations, "all">;
  /** The operator's. */
  readonly sealing: Pick<Sealing, "open">;
  readonly onError: (error: unknown) => void;
}

/** A location that was added or has another key is known within this, ms. */
const REFRESH_MS = 2_000;

/** @throws what the store throws at the first reading; later it goes on with what it knows */
export async function openLocationKeys({ locations, sealing, onError }: LocationKeysOptions): Promise<LocationKeys> {
  let known = new Map<string, { readonly row: Location; readonly sealing: Sealing | undefined }>();

  function open(row: Location): Sealing | undefined {
    try {
      const key = (sealed: string): string => sealing.open(SEALED_CELLS.location(row.code), sealed);
      const next = row.nextSealedKey === null ? [] : [key(row.nextSealedKey)];
      return sealingWith(keyRingOf([key(row.sealedKey), ...next]));
    } catch (error) {
      onError(error);
      return undefined;
    }
  }

  async function refresh(): Promise<void> {
    const rows = await locations.all();
    known = new Map(
      rows.map((row) => {
        const before = known.get(row.code);
        const isSame = before?.row.sealedKey === row.sealedKey && before.row.nextSealedKey === row.nextSealedKey;
        return [row.code, isSame && before !== undefined ? before : { row, sealing: open(row) }];
      }),
    );
  }

  await refresh();
  const timer = setInterval(() => void refresh().catch(onError), REFRESH_MS);
  return {
    codes: () => [...known.keys()],
    sealingOf: (code) => known.get(code)?.sealing,
    refresh,
    close: () => clearInterval(timer),
  };
}
