import { signal } from "@preact/signals";

/** Ctrl-K opens what finds monitors and screens. */
export const paletteOpen = signal(false);
