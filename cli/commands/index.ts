/** THE LIST of commands, in the order of the help. */
import type { AddCommand } from "../command.ts";
import { addAdmin } from "./admin.ts";
import { addApi } from "./api.ts";
import { addBulk } from "./bulk.ts";
import { addCheck } from "./check.ts";
import { addChecker } from "./checker.ts";
import { addCores } from "./cores.ts";
import { addIncidents } from "./incidents.ts";
import { addMonitors } from "./monitors.ts";
import { addResults } from "./results.ts";
import { addScheduler } from "./scheduler.ts";
import { addUp } from "./up.ts";

export const commands: readonly AddCommand[] = [
  addUp,
  addApi,
  addScheduler,
  addChecker,
  addCheck,
  addBulk,
  addMonitors,
  addResults,
  addIncidents,
  addCores,
  addAdmin,
];
