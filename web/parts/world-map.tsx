/** Where the locations are whose codes begin with a country's. The list beside it says the same in words. */
import { type Place, placeOf } from "../state/places.ts";
import { LAND, WORLD } from "./world-outline.ts";

interface Location {
  readonly code: string;
  readonly name: string;
  readonly available: boolean;
}

/** Of a point, and between two of one country, in units of the map. */
const RADIUS = 6;
const STEP = 15;

export function WorldMap({ locations }: { locations: readonly Location[] }) {
  const shown = locations.flatMap((location) => {
    const place = placeOf(location.code);
    return place === null ? [] : [{ location, place }];
  });
  if (shown.length === 0) return null;
  return (
    <svg class="world" viewBox={`0 0 ${WORLD.width} ${WORLD.height}`} aria-hidden="true">
      <path d={LAND} />
      {shown.map(({ location, place }, index) => {
        const beside = shown.slice(0, index).filter((other) => isSame(other.place, place)).length;
        return <Point key={location.code} location={location} x={place.x + beside * STEP} y={place.y} />;
      })}
    </svg>
  );
}

function isSame(a: Place, b: Place): boolean {
  return a.x === b.x && a.y === b.y;
}

/** Full while something checks from there, a ring while nothing does: not by the colour alone. */
function Point({ location: { name, available }, x, y }: { location: Location; x: number; y: number }) {
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
