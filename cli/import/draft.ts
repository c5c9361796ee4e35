/** A document while an importer puts it together. */
import type {
  AlertRuleEntry,
  ChannelEntry,
  Document,
  MaintenanceEntry,
  MonitorEntry,
  StatusPageEntry,
  SubscriptionEntry,
} from "../../model/document/document.ts";
import { FreeNames } from "../../model/free-names.ts";
import { parseUrl } from "../../model/url.ts";
import { usableChannel } from "./channel-check.ts";
import { eachInSteps, type ImportOptions, type ImportSteps } from "./importer.ts";
import { documentText, mapTexts, standIn } from "./marks.ts";
import { MonitorDraft, tagOf } from "./monitor-draft.ts";
import { Notes } from "./notes.ts";
import { cutTo, quoted } from "./values.ts";

/** Of channels and rules, characters. */
const LONGEST_NAME = 120;

/** Of a turn of a maintenance that repeats. */
const TURN_MINUTES = { least: 5, most: 10_080 } as const;

/** Sections in which a key is unique. */
type Keyed = "monitors" | "subscriptions" | "channels" | "maintenance" | "status_pages";

export class Draft {
  readonly notes = new Notes();
  readonly options: ImportOptions;
  readonly #name: string;
  readonly #takesEnvironment: boolean;
  readonly #keys = new Map<Keyed, FreeNames>();
  readonly #channelNames = new Names();
  readonly #ruleNames = new Names();
  readonly #monitors: MonitorDraft[] = [];
  readonly #subscriptions: [string, SubscriptionEntry][] = [];
  readonly #channels: [string, ChannelEntry][] = [];
  readonly #rules: AlertRuleEntry[] = [];
  readonly #maintenance: [string, MaintenanceEntry][] = [];
  readonly #pages: [string, StatusPageEntry][] = [];

  /** @param name of the document @param takesEnvironment whether texts have marks of environment variables */
  constructor(name: string, options: ImportOptions, takesEnvironment = false) {
    this.#name = name;
    this.options = options;
    this.#takesEnvironment = takesEnvironment;
  }

  get monitors(): readonly MonitorDraft[] {
    return this.#monitors;
  }

  monitor(path: string, key: string, name: string): MonitorDraft {
    const monitor = new MonitorDraft(path, this.#key("monitors", key), name, this.notes);
    this.#monitors.push(monitor);
    return monitor;
  }

  subscription(key: string, entry: SubscriptionEntry): string {
    const taken = this.#key("subscriptions", key);
    this.#subscriptions.push([taken, entry]);
    return taken;
  }

  /** @returns its key; undefined when its kind cannot take it, which is noted */
  channel(key: string, name: string, entry: ChannelEntry): string | undefined {
    const usable = usableChannel(entry, `channel ${quoted(name)}`, this.notes);
    if (usable === undefined) return undefined;
    const taken = this.#key("channels", key);
    this.#channels.push([taken, { ...usable, name: this.#channelNames.take(name || taken) }]);
    return taken;
  }

  /** Rules are known by their names. */
  rule(name: string, entry: Omit<AlertRuleEntry, "name">): void {
    this.#rules.push({ name: this.#ruleNames.take(name), ...entry });
  }

  maintenance(key: string, entry: MaintenanceEntry): void {
    const { schedule } = entry;
    const taken = this.#key("maintenance", key);
    if (schedule.type === "once") {
      this.#maintenance.push([taken, entry]);
      return;
    }
    const minutes = Math.min(Math.max(schedule.minutes, TURN_MINUTES.least), TURN_MINUTES.most);
    if (minutes !== schedule.minutes)
      this.notes.add(
        "changed",
        `maintenance ${entry.title ?? taken}`,
        `${schedule.minutes} minutes are ${minutes} here`,
      );
    this.#maintenance.push([taken, { ...entry, schedule: { ...schedule, minutes } }]);
  }

  page(key: string, entry: StatusPageEntry): void {
    this.#pages.push([this.#key("status_pages", key), entry]);
  }

  *finish(): ImportSteps {
    const monitors: (readonly [string, MonitorEntry])[] = [];
    yield* eachInSteps(this.#monitors, (monitor) => {
      const entry = monitor.entry();
      if (entry !== undefined) monitors.push([monitor.key, entry]);
    });
    const kept = new Set(monitors.map(([key]) => key));
    const document: Document = {
      sonde: 1,
      name: this.#name,
      monitors: Object.fromEntries(this.#withSharedDays(monitors)),
      subscriptions: Object.fromEntries(this.#subscriptions),
      channels: Object.fromEntries(this.#channels),
      alert_rules: this.#rules,
      maintenance: Object.fromEntries(this.#maintenance.flatMap((one) => this.#ofKeptMonitors(one, kept))),
      status_pages: Object.fromEntries(this.#pages.map(([key, page]) => [key, withMonitors(page, kept)] as const)),
    };
    const texts = mapTexts(document, (text) => documentText(text, this.#takesEnvironment));
    return { document: texts as Document, notes: this.notes.list };
  }

  #key(section: Keyed, wanted: string): string {
    const keys = this.#keys.get(section) ?? new FreeNames();
    this.#keys.set(section, keys);
    return keys.free(wanted, (count) => `${wanted}-${count}`);
  }

  /** The days of a warning belong to the host: its checks get the earliest warning among theirs. */
  #withSharedDays(
    monitors: readonly (readonly [string, MonitorEntry])[],
  ): readonly (readonly [string, MonitorEntry])[] {
    for (const field of ["ssl_expiration", "domain_expiration"] as const) {
      const days = new Map<string, number>();
      for (const [, entry] of monitors) {
        const host = websiteHost(entry);
        const value = entry[field];
        if (host !== undefined && typeof value === "number") days.set(host, Math.max(days.get(host) ?? 0, value));
      }
      monitors = monitors.map(([key, entry]) => {
        const host = websiteHost(entry);
        const shared = host === undefined ? undefined : days.get(host);
        if (shared === undefined || entry[field] === shared || !canWarn(entry, field)) return [key, entry];
        if (entry[field] !== undefined)
          this.notes.add("changed", key, `${field} is ${shared} days: checks of ${quoted(host)} share it`);
        return [key, { ...entry, [field]: shared }];
      });
    }
    return monitors;
  }

  /** A maintenance of monitors that did not come over is none. */
  #ofKeptMonitors(
    [key, entry]: [string, MaintenanceEntry],
    kept: ReadonlySet<string>,
  ): readonly [string, MaintenanceEntry][] {
    const { keys } = entry.select;
    if (keys === undefined) return [[key, entry]];
    const present = keys.filter((one) => kept.has(one));
    if (present.length > 0) return [[key, { ...entry, select: { ...entry.select, keys: present } }]];
    this.notes.add("lost", `maintenance ${entry.title ?? key}`, "none of its monitors came over");
    return [];
  }
}

/** Of a website or keyword check: what its expiry settings belong to. */
function websiteHost({ type, url }: MonitorEntry): string | undefined {
  if ((type !== "http" && type !== "keyword") || typeof url !== "string") return undefined;
  return parseUrl(standIn(url))?.hostname;
}

function canWarn({ url }: MonitorEntry, field: "ssl_expiration" | "domain_expiration"): boolean {
  return field === "domain_expiration" || (typeof url === "string" && /^https:/i.test(url.trim()));
}

function withMonitors(page: StatusPageEntry, kept: ReadonlySet<string>): StatusPageEntry {
  const groups = page.groups.map((group) => ({
    ...group,
    components: group.components.filter(
      ({ select }) => select.keys === undefined || select.keys.some((key) => kept.has(key)),
    ),
  }));
  return { ...page, groups: groups.filter(({ components }) => components.length > 0) };
}

/** Names that must be unique: a second one gets " 2". */
class Names {
  readonly #taken = new Set<string>();
  readonly #next = new Map<string, number>();

  take(wanted: string): string {
    const base = cutTo(wanted.trim(), LONGEST_NAME - 8) || "Unnamed";
    let count = this.#next.get(base) ?? 2;
    let name = base;
    while (this.#taken.has(name.toLowerCase())) name = `${base} ${count++}`;
    this.#next.set(base, count);
    this.#taken.add(name.toLowerCase());
    return name;
  }
}

/** A tag that stands for a set of channels. */
export function alertTag(number: number): string {
  return tagOf(`alert:${number}`);
}
