/** Where monitors are checked from, as bodies say it and as a monitor may have it (docs/api-contract.md#locations). */
import { z } from "zod";
import { ANY_LOCATION, type Monitor } from "../../model/monitor.ts";
import type { Plan } from "../../model/plan.ts";
import type { MonitorChange } from "../../store/sql/monitors/port.ts";
import { refusal } from "../errors.ts";

/** Each is a check of its own at every turn. */
export const MOST_LOCATIONS = 50;
const CODE = /^(any|[a-z]{2})$/;

/** For the document. */
export const locationField = z
  .string()
  .regex(CODE)
  .meta({ examples: ["de"] });

export interface WantedLocations {
  readonly locations?: readonly string[];
  readonly disabledLocations?: readonly string[];
}

/** In the order that was sent, each once; null when it is no list of codes. */
export function codesOf(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > MOST_LOCATIONS) return null;
  const codes = new Set<string>();
  for (const code of value) {
    if (typeof code !== "string" || !CODE.test(code)) return null;
    codes.add(code);
  }
  return [...codes];
}

/** @throws 400 */
export function readLocations(value: unknown): readonly string[] {
  const codes = codesOf(value);
  if (codes === null || codes.length === 0) throw refusal("locationsInvalid");
  return codes;
}

/** @throws 402 */
export function requireLocationsOnPlan(locations: readonly string[] | undefined, { regionTargeting }: Plan): void {
  const isTargeted = locations?.some((code) => code !== ANY_LOCATION) === true;
  if (isTargeted && !regionTargeting) throw refusal("regionOnPlan");
}

/** What is not wanted stays; a location that is not chosen any more is not paused either. @throws 400 */
export function locationsChange(
  now: Pick<Monitor, "locations" | "disabledLocations">,
  { locations = now.locations, disabledLocations }: WantedLocations,
): Pick<MonitorChange, "locations" | "disabledLocations"> {
  const paused = disabledLocations ?? now.disabledLocations.filter((code) => locations.includes(code));
  const isWrong = paused.includes(ANY_LOCATION) || paused.some((code) => !locations.includes(code));
  if (isWrong || paused.length === locations.length) throw refusal("disabledLocationsInvalid");
  return { locations, disabledLocations: locations.filter((code) => paused.includes(code)) };
}
