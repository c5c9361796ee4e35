import { signal } from "@preact/signals";

/** Ctrl-K opens what finds monitors and screens. */
export const paletteOpen = signal(false);
/** `?` opens the list of keys. */
export const keysOpen = signal(false);
