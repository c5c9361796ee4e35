/** Where the locations are. The list below it says the same in words. */
import { type MapPoint, placeOf } from "../state/places.ts";
import { LAND, WORLD } from "./world-outline.ts";

interface Location {
  readonly code: string;
  readonly name: string;
  readonly available: boolean;
}

/** Of a point, in units of the map. */
const RADIUS = 6;

export function WorldMap({ locations }: { locations: readonly Location[] }) {
  const shown = locations.flatMap((location) => {
    const place = placeOf(location.code);
    return place === null ? [] : [{ location, place }];
  });
  if (shown.length === 0) return null;
  return (
    <svg class="world" viewBox={`0 0 ${WORLD.width} ${WORLD.height}`} aria-hidden="true">
      <path d={LAND} />
      {shown.map(({ location, place }) => (
        <Point key={location.code} location={location} place={place} />
      ))}
    </svg>
  );
}

/** Full while something checks from there, a ring while nothing does: not by the colour alone. */
function Point({ location: { name, available }, place: { x, y } }: { location: Location; place: MapPoint }) {
  return (
    <circle
      class={available ? "s-healthy" : "s-down"}
      cx={x}
      cy={y}
      r={RADIUS}
      fill={available ? "currentColor" : "none"}
    >
      <title>{name}</title>
    </circle>
  );
}
