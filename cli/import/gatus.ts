/** Gatus: one config.yaml, or the files of a folder merged as Gatus merges them. */
import type { Day, MaintenanceEntry } from "../../model/document/document.ts";
import { Draft } from "./draft.ts";
import { goDurationIn } from "./durations.ts";
import { Alerting } from "./gatus/alerting.ts";
import { type GatusMonitor, readEndpoint, readExternal } from "./gatus/endpoints.ts";
import {
  eachInSteps,
  ImportError,
  type Importer,
  type ImportFile,
  type ImportOptions,
  type ImportSteps,
} from "./importer.ts";
import { mapTexts, markEnvironment } from "./marks.ts";
import { booleanAt, type Fields, fieldsAt, isFields, listAt, memberOf, quoted, rowsAt, textAt } from "./values.ts";
import { readYaml } from "./yaml.ts";
import { clockOf, isZone, minuteOfDay } from "./zones.ts";

const DAYS: Readonly<Record<string, Day>> = {
  Monday: "mon",
  Tuesday: "tue",
  Wednesday: "wed",
  Thursday: "thu",
  Friday: "fri",
  Saturday: "sat",
  Sunday: "sun",
};
/** Levels of settings that are merged. */
const MOST_LEVELS = 10;

export const gatus: Importer = {
  source: "gatus",
  title: "Gatus",
  reads: "config.yaml, or the folder of several",
  convert: (files, options) => convertGatus(mergedFiles(files), options),
};

function mergedFiles(files: readonly ImportFile[]): Fields {
  let merged: Fields = {};
  for (const file of files) {
    const value = readYaml(file);
    if (value === undefined || value === null) continue;
    if (!isFields(value))
      throw new ImportError(
        `${file.name}: it is no configuration of Gatus, which is a map`,
        "name the config.yaml that Gatus reads, or its folder",
      );
    merged = mergedOf(merged, mapTexts(value, markEnvironment) as Fields, 0);
  }
  const names = ["endpoints", "external-endpoints", "suites"];
  if (!names.some((name) => Array.isArray(memberOf(merged, name))))
    throw new ImportError(
      `${files.map(({ name }) => name).join(", ")}: there is no list of endpoints, as Gatus has`,
      "name the config.yaml that Gatus reads, or its folder",
    );
  return merged;
}

/** Maps are merged and lists put together. */
function mergedOf(one: Fields, other: Fields, level: number): Fields {
  const entries = Object.entries(other).map(([name, value]) => {
    const before = memberOf(one, name);
    if (Array.isArray(before) && Array.isArray(value)) return [name, [...before, ...value]] as const;
    if (isFields(before) && isFields(value) && level < MOST_LEVELS)
      return [name, mergedOf(before, value, level + 1)] as const;
    return [name, value] as const;
  });
  return { ...one, ...Object.fromEntries(entries) };
}

const READERS = [
  ["endpoints", readEndpoint],
  ["external-endpoints", readExternal],
] as const;

function* convertGatus(config: Fields, options: ImportOptions): ImportSteps {
  const draft = new Draft("gatus", options, true);
  const alerting = new Alerting(fieldsAt(config, "alerting"), draft);
  const monitors: GatusMonitor[] = [];
  for (const [name, reader] of READERS) {
    yield* eachInSteps(rowsAt(config, name), (row) => {
      const monitor = reader(row, draft);
      monitors.push(monitor);
      alerting.add(monitor);
    });
  }
  alerting.finish();
  readMaintenance(config, monitors, draft);
  for (const suite of rowsAt(config, "suites"))
    draft.notes.add(
      "lost",
      `suite ${quoted(memberOf(suite, "name"))}`,
      "checks that use each other's answers cannot be said",
    );
  for (const one of rowsAt(config, "announcements"))
    draft.notes.add("info", `announcement ${quoted(memberOf(one, "message"))}`, "left out: write it again");
  for (const name of ["remote", "tunneling", "connectivity", "security"])
    if (isFields(memberOf(config, name))) draft.notes.add("info", name, "left out");
  return yield* draft.finish();
}

function readMaintenance(config: Fields, monitors: readonly GatusMonitor[], draft: Draft): void {
  const keys = monitors.map(({ monitor }) => monitor.key);
  const global = memberOf(config, "maintenance");
  if (isFields(global)) addWindow(global, { draft, key: "maintenance", title: "Maintenance", keys });
  for (const { monitor, row } of monitors) {
    for (const window of rowsAt(row, "maintenance-windows")) {
      const title = `Maintenance of ${monitor.path}`;
      addWindow(window, { draft, key: `maintenance-${monitor.key}`.slice(0, 240), title, keys: [monitor.key] });
    }
  }
}

interface Window {
  readonly draft: Draft;
  readonly key: string;
  readonly title: string;
  readonly keys: readonly string[];
}

function addWindow(window: Fields, { draft, key, title, keys }: Window): void {
  if (booleanAt(window, "enabled") === false || keys.length === 0) return;
  const [from, seconds] = [minuteOfDay(textAt(window, "start")), goDurationIn(memberOf(window, "duration"))];
  const days = listAt(window, "every").flatMap((one) => DAYS[String(one)] ?? []);
  const zone = textAt(window, "timezone") ?? "UTC";
  if (from === undefined || seconds === undefined || seconds < 60) {
    draft.notes.add("lost", title, "its times cannot be read");
    return;
  }
  if (!isZone(zone)) draft.notes.add("changed", title, `the time zone ${quoted(zone)} is not known: UTC is taken`);
  const entry: MaintenanceEntry = {
    title: title.slice(0, 200),
    select: { keys },
    schedule: {
      type: "weekly",
      days: days.length === 0 ? ["mon-sun"] : [...new Set(days)],
      from: clockOf(from),
      minutes: Math.round(seconds / 60),
    },
    timezone: isZone(zone) ? zone : "UTC",
  };
  draft.maintenance(key, entry);
}
