/** Who did something, as incidents, events and history show it (open-points 2). */
import type { Actor } from "../store/sql/control-plane.ts";

export function viewActor(actor: Actor) {
  return { type: actor.type, id: actor.id, name: actor.name, via: actor.via, key_id: actor.keyId };
}
