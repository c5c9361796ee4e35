/**
 * Changes the sealing key: a new key goes first in the key file, everything sealed is sealed anew, and the start's check value with it.
 * The key before stays in the file to open what a running service was just sealing with it; the next rotation drops it. Wherever a
 * rotation dies, the file still holds every key that is in use, and the next one goes on.
 */

import type { Meta } from "../sql/coordination/meta-port.ts";
import type { ResealCounts, Sealed } from "../sql/sealed/port.ts";
import { addKey, type KeyRing, readKeyRing, replaceKeys } from "./keys.ts";
import { openCheckedSealing, openSealing, renewCheck, type SealingOptions } from "./sealing.ts";

export interface Rotation extends ResealCounts {
  readonly keyId: string;
  readonly keyIdBefore: string;
}

/** A running service seals with the new key from its next seal on. Texts that it sealed with the old key meanwhile are found by the next pass. */
const MOST_PASSES = 5;

/** @param makeKey false: the file's first key is new already, put there by hand on every machine */
export async function rotateSealing(
  { meta, sealed }: { readonly meta: Meta; readonly sealed: Sealed },
  { keyFile }: SealingOptions,
  makeKey: boolean,
): Promise<Rotation> {
  const options = { keyFile, createIfMissing: false };
  const { keyId: keyIdBefore, bindsRows } = await openCheckedSealing(meta, options);
  if (makeKey) addKey(keyFile);
  const sealing = openSealing({ ...options, bindsRows: () => bindsRows });
  let resealed = 0;
  let unreadable: readonly string[] = [];
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const counts = await sealed.reseal(sealing);
    resealed += counts.resealed;
    unreadable = counts.unreadable;
    if (counts.resealed === 0) break;
  }
  await renewCheck(meta, sealing);
  if (makeKey) dropUnused(keyFile, new Set([keyIdBefore, ...(await sealed.keyIds())]));
  return { keyId: sealing.keyId, keyIdBefore, resealed, unreadable };
}

function dropUnused(keyFile: string, used: ReadonlySet<string>): void {
  const [first, ...others]: KeyRing = readKeyRing(keyFile);
  const kept = others.filter(({ id }) => used.has(id));
  if (kept.length < others.length) replaceKeys(keyFile, [first, ...kept]);
}
