/** The key that hashes of secrets are made with: made once, kept sealed in SQL, the same in every process and after a rotation. */
import { randomBytes } from "node:crypto";
import { SEALED_CELLS, URL_HASH_KEY } from "../sealed-cells.ts";
import type { Sealing } from "../sealed-text.ts";
import type { ControlPlane } from "../sql/control-plane/port.ts";

const KEY_BYTES = 32;

export async function openHashKey(
  { subscriptions }: Pick<ControlPlane, "subscriptions">,
  sealing: Pick<Sealing, "open" | "seal">,
): Promise<string> {
  const cell = SEALED_CELLS.hashKey(URL_HASH_KEY);
  const fresh = (): string => sealing.seal(cell, randomBytes(KEY_BYTES).toString("base64url"));
  return sealing.open(cell, await subscriptions.hashKey(fresh));
}
