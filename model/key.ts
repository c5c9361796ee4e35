/** Keys, as people see them. */

export type KeyStatus = "active" | "inactive" | "expired";

/** `expired` wins over `inactive` (docs/api-contract.md#keys). A key ends at the millisecond it expires. */
export function keyStatus(
  key: { readonly active: boolean; readonly expiresAtMs: number | null },
  nowMs: number,
): KeyStatus {
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) return "expired";
  return key.active ? "active" : "inactive";
}

/** Code points (docs/api-contract.md#plans). */
export const MAX_KEY_NAME = 120;
