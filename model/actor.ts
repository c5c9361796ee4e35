/** Who made a change: a user or the service itself (docs/api-contract.md#order-of-checks). */
export interface Actor {
  readonly type: "user" | "system";
  readonly id: number | null;
  readonly name: string | null;
  readonly via: "api" | "dashboard" | "system";
  readonly keyId: number | null;
}

export const SYSTEM_ACTOR: Actor = { type: "system", id: null, name: null, via: "system", keyId: null };
