/** `npm run bench -- parts [name]`: the parts one by one. */
import { run as alerts } from "./alerts.ts";
import { run as codecs } from "./codecs.ts";
import { run as million } from "./million.ts";
import { run as native } from "./native.ts";
import { run as results } from "./results.ts";
import { run as rules } from "./rules.ts";
import { run as sink } from "./sink.ts";
import { run as statusPages } from "./status-pages.ts";
import { run as wheel } from "./wheel.ts";

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  wheel,
  rules,
  codecs,
  million,
  native,
  sink,
  results,
  alerts,
  "status-pages": statusPages,
};
const PART_NAMES = Object.keys(PARTS);

/** @param name undefined: all of them, one after the other */
export async function runParts(name: string | undefined): Promise<void> {
  const chosen = name === undefined ? Object.values(PARTS) : [PARTS[name]];
  for (const run of chosen) {
    if (run === undefined) throw new Error(`there is no part ${name}: ${PART_NAMES.join(", ")}`);
    await run();
  }
}
