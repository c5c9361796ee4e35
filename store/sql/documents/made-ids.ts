/** Ids of what an order makes, for the things that name it (port.ts). */
import type { ThingKind } from "../../../model/document/plan.ts";
import type { Selected, Selector } from "../../../model/selector.ts";
import type { ApplyOrder, Assigned } from "./port.ts";

export class MadeIds {
  readonly #ids = new Map<ThingKind, readonly number[]>();

  constructor({ monitors, subscriptions }: ApplyOrder, assigned: readonly Assigned[]) {
    const idOf = new Map(assigned.map(({ kind, key, thingId }) => [`${kind} ${key}`, thingId]));
    for (const [kind, { create }] of [["monitor", monitors] as const, ["subscription", subscriptions] as const])
      this.add(
        kind,
        create.map(({ key }) => idOf.get(`${kind} ${key}`) ?? 0),
      );
  }

  /** In the order in which they were made. */
  add(kind: ThingKind, ids: readonly number[]): void {
    this.#ids.set(kind, ids);
  }

  id(kind: ThingKind, id: number): number {
    if (id >= 0) return id;
    const made = this.#ids.get(kind)?.[-id - 1];
    if (made === undefined) throw new Error(`the order makes no ${kind} ${id}`);
    return made;
  }

  selector({ not, ...selected }: Selector): Selector {
    return { ...this.#selected(selected), ...(not !== undefined && { not: this.#selected(not) }) };
  }

  #selected(selected: Selected): Selected {
    const { ids, subscriptionIds } = selected;
    return {
      ...selected,
      ...(ids !== undefined && { ids: ids.map((id) => this.id("monitor", id)) }),
      ...(subscriptionIds !== undefined && {
        subscriptionIds: subscriptionIds.map((id) => this.id("subscription", id)),
      }),
    };
  }
}
