/** The API says "not connected" of everything that said nothing. Where the connection was made, that would mislead. Pure. */

interface Steps {
  /** By the name of each step that was begun, how long it took, ms. */
  readonly phases: { readonly connect?: unknown };
  /** The step that did not end; null where all did. */
  readonly stage: string | null;
}

/** @returns whether the server took the connection and then was silent */
export function isUnanswered({ phases, stage }: Steps, category: string): boolean {
  return category === "server_not_connected" && phases.connect !== undefined && stage !== "connect";
}
