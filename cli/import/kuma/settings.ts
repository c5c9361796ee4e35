/** Settings of the whole of Kuma that monitors and maintenance depend on. */
import { type Fields, jsonIn, listIn, memberOf, numberIn, textIn } from "../values.ts";
import { type KumaTables, rowsOf } from "./tables.ts";

/** Days before the end on which Kuma warns, unless settings say otherwise. */
const STANDARD_DAYS = [7, 14, 21];

/** Kuma warns several times, a monitor here once: by the earliest of them. */
export function warningDays(tables: KumaTables): { readonly certificate: number; readonly domain: number } {
  // The earliest of the standard ones, 21, is nearest to 14 of ours.
  const daysOf = (key: string) => {
    const days = listIn(jsonIn(settingOf(tables, key))).flatMap((one) => numberIn(one) ?? []);
    return Math.max(...(days.length > 0 ? days.slice(0, 100) : STANDARD_DAYS));
  };
  return { certificate: daysOf("tlsExpiryNotifyDays"), domain: daysOf("domainExpiryNotifyDays") };
}

/** The time zone that windows of maintenance mean by SAME_AS_SERVER. */
export function serverZone(tables: KumaTables): string {
  const zone = settingOf(tables, "serverTimezone");
  return textIn(jsonIn(zone)) ?? textIn(zone) ?? "UTC";
}

function settingOf(tables: KumaTables, key: string): unknown {
  const row: Fields | undefined = rowsOf(tables, "setting").find((one) => memberOf(one, "key") === key);
  return row === undefined ? undefined : memberOf(row, "value");
}
