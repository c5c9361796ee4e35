/** THE LIST of commands, in the order of the help. */
import type { AddCommand } from "../command.ts";
import { addAdmin } from "./admin.ts";
import { addCores } from "./cores.ts";
import { addIncidents } from "./incidents.ts";
import { addMonitors } from "./monitors.ts";
import { addResults } from "./results.ts";
import { addUp } from "./up.ts";

export const commands: readonly AddCommand[] = [addUp, addMonitors, addResults, addIncidents, addCores, addAdmin];
