/** The key that hashes of secrets are made with: made once, kept sealed in SQL, the same in every process and after a rotation. */
import { randomBytes } from "node:crypto";
import { SEALED_AT, URL_HASH_KEY } from "./sealed-places.ts";
import type { Sealing } from "./sealing.ts";
import type { ControlPlane } from "./sql/control-plane.ts";

const KEY_BYTES = 32;

export async function openHashKey(
  { subscriptions }: Pick<ControlPlane, "subscriptions">,
  sealing: Pick<Sealing, "open" | "seal">,
): Promise<string> {
  const place = SEALED_AT.hashKey(URL_HASH_KEY);
  const fresh = (): string => sealing.seal(place, randomBytes(KEY_BYTES).toString("base64url"));
  return sealing.open(place, await subscriptions.hashKey(fresh));
}
