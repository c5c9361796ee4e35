/** Uptime Kuma: the JSON backup of version 1 here, databases by kuma/database.ts; both end in the same tables. */
import { Draft } from "./draft.ts";
import { ImportError, type Importer, type ImportFile, type ImportOptions, type ImportSteps } from "./importer.ts";
import { readChannels } from "./kuma/channels.ts";
import { readMaintenance } from "./kuma/maintenance.ts";
import { readMonitors } from "./kuma/monitors.ts";
import { readPages } from "./kuma/pages.ts";
import { readRules } from "./kuma/rules.ts";
import { type KumaTables, rowsOf, tablesOfBackup } from "./kuma/tables.ts";
import { numberAt } from "./values.ts";
import { readJson } from "./yaml.ts";

export const kuma: Importer = {
  source: "kuma",
  title: "Uptime Kuma",
  reads: "kuma.db of 1.x or 2.x, the data folder, or a JSON backup of 1.x",
  *convert(files, options) {
    const [file, ...others] = files;
    if (file === undefined || others.length > 0)
      throw new ImportError(
        "Uptime Kuma: one backup at a time can be read",
        "import the others after it, each with an --out of its own",
      );
    return yield* convertKuma(tablesIn(file), options);
  },
};

function tablesIn(file: ImportFile): KumaTables {
  const tables = tablesOfBackup(readJson(file));
  if (tables === undefined)
    throw new ImportError(
      `${file.name}: it has no monitorList, as a backup of Uptime Kuma has`,
      "name kuma.db, or what Settings › Backup of Uptime Kuma 1 exports",
    );
  return tables;
}

export function* convertKuma(tables: KumaTables, options: ImportOptions): ImportSteps {
  const draft = new Draft("kuma", options);
  const monitors = yield* readMonitors(tables, draft);
  const channels = readChannels(tables, draft);
  readRules(tables, draft, { monitors, channels });
  readMaintenance(tables, draft, monitors);
  readPages(tables, draft, monitors);
  if (rowsOf(tables, "monitor").some((row) => (numberAt(row, "maxretries") ?? 0) > 0))
    draft.notes.add(
      "info",
      "monitors",
      "a failed check is tried again after its interval, 30 s at most; Kuma's retry interval is left out",
    );
  for (const what of tables.besides) draft.notes.add("info", "Uptime Kuma", `${what}: left out`);
  return yield* draft.finish();
}
