/** THE LIST of sources, in the order of the help. */
import { betterstack } from "./betterstack.ts";
import { blackbox } from "./blackbox.ts";
import { checkly } from "./checkly.ts";
import { gatus } from "./gatus.ts";
import type { Importer } from "./importer.ts";
import { kuma } from "./kuma.ts";
import { openstatus } from "./openstatus.ts";
import { uptimerobot } from "./uptimerobot.ts";
import { xrayChecker } from "./xray-checker.ts";

export const importers: readonly Importer[] = [
  kuma,
  gatus,
  blackbox,
  xrayChecker,
  uptimerobot,
  betterstack,
  checkly,
  openstatus,
];

export function importerNamed(source: string): Importer | undefined {
  return importers.find((one) => one.source === source);
}
