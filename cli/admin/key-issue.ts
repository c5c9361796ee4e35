/** A new key: its text exists here once, the store keeps a hash. */
import type { KeyRecord } from "../../store/sql/accounts/keys-port.ts";
import type { AdminStores } from "./stores.ts";

export interface KeyOrder {
  readonly name: string;
  readonly userId: number;
  /** null: account-wide. */
  readonly organizationId: number | null;
  readonly expiresAtMs: number | null;
  readonly prefix?: "uk" | "dk";
}

export async function issueKey(
  { controlPlane, nowMs }: AdminStores,
  { prefix, ...order }: KeyOrder,
): Promise<{ readonly record: KeyRecord; readonly key: string }> {
  const { newKeyText } = await import("../../store/key-text.ts");
  const { secretHash, text } = newKeyText(prefix);
  const kind = order.organizationId === null ? "account" : "workspace";
  const record = await controlPlane.keys.create({ ...order, kind, nowMs, secretHash });
  return { record, key: text(record.id) };
}
