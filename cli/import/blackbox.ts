/** blackbox_exporter: its modules say how is asked, Prometheus' scrape jobs say what and how often. */
import { applyModule, shortTarget } from "./blackbox/modules.ts";
import { Draft } from "./draft.ts";
import { durationIn } from "./durations.ts";
import { eachInSteps, ImportError, type Importer, type ImportFile } from "./importer.ts";
import { keyOf } from "./keys.ts";
import {
  type Fields,
  fieldsAt,
  fieldsIn,
  isFields,
  listAt,
  memberOf,
  quoted,
  rowsAt,
  textAt,
  textIn,
} from "./values.ts";
import { readJson, readYaml } from "./yaml.ts";

/** Prometheus' own standards, seconds. */
const INTERVAL_S = 60;
const TIMEOUT_S = 10;
/** Modules of the exporter's example file, which jobs name although none of the files defines them. */
const USUAL_MODULES: Readonly<Record<string, Fields>> = {
  http_2xx: { prober: "http" },
  http_post_2xx: { prober: "http", http: { method: "POST" } },
  tcp_connect: { prober: "tcp" },
  icmp: { prober: "icmp" },
};
/** The module of a job that names none. */
const STANDARD_MODULE = "http_2xx";

interface Read {
  readonly modules: Fields;
  readonly jobs: readonly Fields[];
  readonly intervalS: number;
  readonly timeoutS: number;
  /** Lists of targets, by file. */
  readonly lists: ReadonlyMap<string, readonly Fields[]>;
}

export const blackbox: Importer = {
  source: "blackbox",
  title: "blackbox_exporter",
  reads: "blackbox.yml and prometheus.yml together, and the files of file_sd_configs",
  references: (files) => files.flatMap((file) => listFilesOf(fieldsIn(readAny(file)))),
  *convert(files, options) {
    const draft = new Draft("blackbox", options);
    const read = readFiles(files);
    if (read.jobs.length === 0) {
      const names = files.map(({ name }) => name).join(", ");
      throw new ImportError(
        `${names}: there is no scrape job with metrics_path: /probe; prometheus.yml says what is probed`,
        "name prometheus.yml beside blackbox.yml",
      );
    }
    for (const job of read.jobs) yield* readJob(job, read, draft);
    return yield* draft.finish();
  },
};

function readAny(file: ImportFile): unknown {
  return file.name.toLowerCase().endsWith(".json") ? readJson(file) : readYaml(file);
}

function readFiles(files: readonly ImportFile[]): Read {
  const lists = new Map<string, readonly Fields[]>();
  let modules: Fields = {};
  let jobs: readonly Fields[] = [];
  let global: Fields = {};
  for (const file of files) {
    const value = readAny(file);
    if (Array.isArray(value)) lists.set(file.name, value.filter(isFields));
    const config = fieldsIn(value);
    modules = { ...modules, ...fieldsAt(config, "modules") };
    jobs = [...jobs, ...rowsAt(config, "scrape_configs").filter(isProbe)];
    global = { ...global, ...fieldsAt(config, "global") };
  }
  return {
    modules,
    jobs,
    lists,
    intervalS: durationIn(memberOf(global, "scrape_interval")) ?? INTERVAL_S,
    timeoutS: durationIn(memberOf(global, "scrape_timeout")) ?? TIMEOUT_S,
  };
}

/** A probe, or a job that names a module of the exporter. */
function isProbe(job: Fields): boolean {
  return textAt(job, "metrics_path") === "/probe" || memberOf(fieldsAt(job, "params"), "module") !== undefined;
}

function listFilesOf(config: Fields): readonly string[] {
  return listAt(config, "scrape_configs")
    .filter(isFields)
    .filter(isProbe)
    .flatMap((job) => rowsAt(job, "file_sd_configs"))
    .flatMap((one) => listAt(one, "files"))
    .flatMap((one) => textIn(one) ?? []);
}

function* readJob(job: Fields, read: Read, draft: Draft): Generator<void, void> {
  const name = textAt(job, "job_name") ?? "job";
  const path = `job ${quoted(name)}`;
  const intervalS = durationIn(memberOf(job, "scrape_interval")) ?? read.intervalS;
  const timeoutS = durationIn(memberOf(job, "scrape_timeout")) ?? Math.min(read.timeoutS, intervalS);
  const module = textIn(listAt(fieldsAt(job, "params"), "module")[0]) ?? STANDARD_MODULE;
  for (const { targets, labels } of groupsOf(job, read, draft, path)) {
    const reading = { name, path, intervalS, timeoutS, module, read, draft };
    yield* eachInSteps(targets, (target) => addTarget(target, labels, reading));
  }
  for (const member of Object.keys(job)) {
    if (!member.endsWith("_sd_configs") || member === "file_sd_configs") continue;
    draft.notes.add("lost", path, `targets that ${member} finds: a document has only targets that are written down`);
  }
}

interface Group {
  readonly targets: readonly string[];
  readonly labels: Fields;
}

function groupsOf(job: Fields, { lists }: Read, draft: Draft, path: string): readonly Group[] {
  const groups = rowsAt(job, "static_configs");
  const listed = listFilesOf({ scrape_configs: [job] }).flatMap((pattern) => {
    const found = [...lists].filter(([name]) => isNamed(name, pattern)).flatMap(([, list]) => list);
    if (found.length === 0) draft.notes.add("lost", path, `the targets of ${quoted(pattern)}: name that file, too`);
    return found;
  });
  return [...groups, ...listed].map((group) => ({
    targets: listAt(group, "targets").flatMap((one) => textIn(one)?.trim() ?? []),
    labels: fieldsAt(group, "labels"),
  }));
}

/** The last part of a path decides; `*` in it is any text. */
function isNamed(name: string, pattern: string): boolean {
  const [file, wanted] = [name.split(/[\\/]/).at(-1) ?? "", pattern.split("/").at(-1) ?? ""];
  const [first = "", ...others] = wanted.split("*");
  const last = others.at(-1);
  if (last === undefined) return file === first;
  return file.length >= first.length + last.length && file.startsWith(first) && file.endsWith(last);
}

interface TargetReading {
  readonly name: string;
  readonly path: string;
  readonly intervalS: number;
  readonly timeoutS: number;
  readonly module: string;
  readonly read: Read;
  readonly draft: Draft;
}

function addTarget(target: string, labels: Fields, reading: TargetReading): void {
  const { name, path, draft, read } = reading;
  // Relabelling often lets a label choose the module.
  const module = textAt(labels, "__param_module") ?? textAt(labels, "module") ?? reading.module;
  const settings = memberOf(read.modules, module) ?? memberOf(USUAL_MODULES, module);
  if (!isFields(settings)) {
    draft.notes.add("lost", `${path} ${quoted(target)}`, `left out: no file has the module ${quoted(module)}`);
    return;
  }
  const title = textAt(labels, "name") ?? textAt(labels, "instance") ?? shortTarget(target);
  const monitor = draft.monitor(`${path} ${quoted(target)}`, keyOf(name, target), title);
  if (memberOf(read.modules, module) === undefined)
    monitor.changed(`no file has the module ${module}: the usual one is taken`);
  monitor.interval(Math.max(reading.intervalS, 1)).tag(`job:${name}`);
  for (const [label, value] of Object.entries(labels)) {
    const text = textIn(value);
    if (text !== undefined && !label.startsWith("__") && label !== "module") monitor.tag(`${label}:${text}`);
  }
  applyModule(monitor, settings, target, reading.timeoutS);
}
