/** Rendezvous hashing (Thaler and Ravishankar 1998): of some checkers, the one with the greatest weight has the home. Pure. */

/** The weight of a home at a checker, the same in every scheduler: FNV-1a over both, then mixed (fmix32 of MurmurHash3). */
export function weightOf(home: number, checker: string): number {
  let hash = 0x811c9dc5;
  for (const text of [String(home), " ", checker]) {
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
