/** THE LIST of commands, in the order of the help and under its headings. */
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

export const commands: Readonly<Record<string, readonly AddCommand[]>> = {
  "Check now, without a service:": [addCheck, addBulk, addCores],
  "Run a service:": [addUp, addBackup, addRestore, addMove, addAdmin],
  "Use a running service:": [
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
  ],
  "Monitors as code:": [addApply, addExport, addSchema, addImport],
  "Run a service on several machines:": [addApi, addScheduler, addChecker],
};
