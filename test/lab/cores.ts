/** The proxy cores that the lab uses: this machine's, as `sonde` finds them. */
import { fileURLToPath } from "node:url";
import { loadCorePaths } from "../../config.ts";
import type { CorePaths } from "../../engine/cores/program.ts";

export const CORE_PLACES: CorePaths = loadCorePaths({
  SONDE_DATA_DIR: fileURLToPath(new URL("../../data", import.meta.url)),
  ...process.env,
});
