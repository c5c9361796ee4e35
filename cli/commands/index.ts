/** THE LIST of commands, in the order of the help. */
import type { AddCommand } from "../command.ts";
import { addAck } from "./ack.ts";
import { addAdd } from "./add.ts";
import { addAdmin } from "./admin.ts";
import { addApi } from "./api.ts";
import { addApply } from "./apply.ts";
import { addBackup } from "./backup.ts";
import { addBulk } from "./bulk.ts";
import { addCheck } from "./check.ts";
import { addChecker } from "./checker.ts";
import { addCores } from "./cores.ts";
import { addExport } from "./export.ts";
import { addImport } from "./import.ts";
import { addIncidents } from "./incidents.ts";
import { addMaintenance } from "./maintenance.ts";
import { addMonitors } from "./monitors.ts";
import { addMove } from "./move.ts";
import { addPause, addResume } from "./pause.ts";
import { addRestore } from "./restore.ts";
import { addResults } from "./results.ts";
import { addRm } from "./rm.ts";
import { addScheduler } from "./scheduler.ts";
import { addSchema } from "./schema.ts";
import { addSet } from "./set.ts";
import { addShow } from "./show.ts";
import { addUp } from "./up.ts";

export const commands: readonly AddCommand[] = [
  addUp,
  addApi,
  addScheduler,
  addChecker,
  addCheck,
  addBulk,
  addAdd,
  addMonitors,
  addShow,
  addSet,
  addPause,
  addResume,
  addRm,
  addResults,
  addIncidents,
  addAck,
  addMaintenance,
  addImport,
  addApply,
  addExport,
  addSchema,
  addCores,
  addBackup,
  addRestore,
  addMove,
  addAdmin,
];
