/** Names of a project's monitors, kept while no monitor was changed: lists of results show one in each row. */
import { BoundedMap } from "../model/bounded-map.ts";
import { andThen, type MaybePromise } from "../model/maybe-promise.ts";
import type { Monitors } from "../store/sql/monitors/port.ts";
import type { AuthCache } from "./auth-cache.ts";

/** By monitor, as JSON text. */
export type NamesJson = ReadonlyMap<number, string>;

export interface ProjectNames {
  of(projectId: number): MaybePromise<NamesJson>;
}

/** Projects that are kept. */
const MOST_KEPT = 64;

export function createProjectNames(
  monitors: Pick<Monitors, "names">,
  auth: Pick<AuthCache, "generation">,
): ProjectNames {
  const kept = new BoundedMap<number, { readonly generation: number; readonly names: MaybePromise<NamesJson> }>(
    MOST_KEPT,
  );
  return {
    of(projectId) {
      const generation = auth.generation();
      const known = kept.use(projectId);
      if (known?.generation === generation) return known.names;
      const reading = monitors.names(projectId).then(asJson);
      kept.set(projectId, { generation, names: reading });
      return andThen(
        reading.catch((error: unknown) => {
          kept.delete(projectId);
          throw error;
        }),
        (names) => {
          // Read at once from then on, unless it was replaced meanwhile.
          if (kept.get(projectId)?.names === reading) kept.set(projectId, { generation, names });
          return names;
        },
      );
    },
  };
}

function asJson(names: ReadonlyMap<number, string>): NamesJson {
  return new Map([...names].map(([id, name]) => [id, JSON.stringify(name)]));
}
