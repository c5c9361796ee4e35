/** A project, or what one document of it has, as a document again. Applying it changes nothing. */
import type { Document } from "../../model/document/document.ts";
import { SECTION_OF, type ThingKind } from "../../model/document/plan.ts";
import { writeDocumentInSteps } from "../../model/document/write.ts";
import { Slices } from "../../store/slices.ts";
import type { DocumentRecord, DocumentThing } from "../../store/sql/documents/port.ts";
import type { SubscriptionRecord } from "../../store/sql/subscriptions/port.ts";
import type { Api } from "../api.ts";
import { channelEntry, maintenanceEntry, quietHoursEntry, ruleEntry, statusPageEntry } from "../apply/entries.ts";
import { KeyNames } from "../apply/references.ts";
import { allSubscriptions } from "../apply/subscriptions.ts";
import { refusal } from "../errors.ts";
import { openTunnel } from "../monitors/tunnel-requests.ts";
import type { ProjectCall } from "../route.ts";
import { ExportKeys } from "./export-keys.ts";
import { type Entry, isExportable, isUptime, tunnelEntry, uptimeEntry } from "./monitor-entry.ts";
import { type ExportedSecret, escaped, SecretNames } from "./secret-names.ts";

export interface Exported {
  /** null: things of several documents, or of none. */
  readonly name: string | null;
  readonly text: string;
  readonly secrets: readonly ExportedSecret[];
}

/** @param name of the document; null: all of the project @throws 404 */
export async function makeExport(api: Api, call: ProjectCall, name: string | null): Promise<Exported> {
  const { documents } = api.controlPlane;
  const known = await documents.list(call.project.id);
  const document = name === null ? null : known.find((one) => one.name === name);
  if (document === undefined) throw refusal("documentNotFound");
  const things: DocumentThing[] = [];
  for await (const some of documents.things(call.project.id)) things.push(...some);
  const exporter = new Exporter(api, call, new ExportKeys(things, document));
  const sections = await exporter.sections();
  // Entries are as documents write them: reading it again says so.
  const written = { sonde: 1, ...(document !== null && { name: document.name }), ...sections } as unknown as Document;
  return {
    name: document?.name ?? null,
    text: await new Slices().run(writeDocumentInSteps(written, headOf(document, exporter.secrets))),
    secrets: exporter.secrets,
  };
}

/** The same text for the same things. */
function headOf(document: DocumentRecord | null, secrets: readonly ExportedSecret[]): readonly string[] {
  const what =
    document === null ? "Everything of a project. sonde apply --adopt takes it over." : "What the document has.";
  if (secrets.length === 0) return [what];
  return [what, "Secrets are not in here: sonde apply takes each from the environment."];
}

class Exporter {
  readonly #api: Api;
  readonly #call: ProjectCall;
  readonly #keys: ExportKeys;
  readonly #names = new KeyNames();
  readonly #secrets = new SecretNames();
  readonly #slices = new Slices();

  constructor(api: Api, call: ProjectCall, keys: ExportKeys) {
    this.#api = api;
    this.#call = call;
    this.#keys = keys;
  }

  get secrets(): readonly ExportedSecret[] {
    return this.#secrets.list;
  }

  /** A thing is exported before the things that refer to it, because its key must be known. */
  async sections(): Promise<Readonly<Record<string, unknown>>> {
    const { alerts, channels, schedules, statusPages } = this.#api.controlPlane;
    const projectId = this.#call.project.id;
    const subscriptions = await this.#subscriptions();
    const monitors = await this.#monitors();
    const channelRecords = await channels.list(projectId);
    const ofChannels = this.#section("channel", channelRecords, (one, path) => {
      const secret = one.secretNames.map((field) => this.#secretField(field, path));
      return { ...open(channelEntry(one)), ...merged(secret) };
    });
    const quiet = (await alerts.quietHours(projectId)).items;
    const ofQuiet = this.#section("quiet_hours", quiet, (one) => open(quietHoursEntry(one)));
    const rules = (await alerts.rules(projectId)).items.filter(({ id }) => this.#keys.isExported("alert_rule", id));
    const planned = (await schedules.list(projectId)).map((one) => ({ ...one, name: one.title }));
    const pages = (await statusPages.list(projectId)).map((one) => ({ ...one, name: one.slug }));
    return {
      monitors,
      subscriptions,
      channels: ofChannels,
      quiet_hours: ofQuiet,
      alert_rules: rules.map((rule) => ({
        ...open(ruleEntry(rule, this.#names)),
        name: String(escaped(this.#keys.key("alert_rule", rule.id, rule.name))),
      })),
      maintenance: this.#section("maintenance", planned, (one) => open(maintenanceEntry(one, this.#names))),
      status_pages: this.#section("status_page", pages, (one, path) => {
        const password = one.access === "password" ? this.#secrets.placeholder([...path, "access", "password"]) : null;
        const entry = open(statusPageEntry(one, this.#names));
        return password === null ? entry : { ...entry, access: { type: one.access, password } };
      }),
    };
  }

  async #subscriptions() {
    const records = [...(await allSubscriptions(this.#api, this.#call)).values()];
    const named = records.map((one) => ({ ...one, name: one.name ?? "subscription", title: one.name }));
    return this.#section("subscription", named, (one, path) => subscriptionEntry(one, one.title, this.#secrets, path));
  }

  async #monitors() {
    const { documents } = this.#api.controlPlane;
    const found: (readonly [string, Entry])[] = [];
    for await (const some of documents.monitors(this.#call.project.id)) {
      const wanted = some.filter(
        ({ monitor }) => isExportable(monitor) && this.#keys.isExported("monitor", monitor.id),
      );
      const tunnels = wanted.flatMap(({ monitor }) => (isUptime(monitor) ? [] : [monitor.id]));
      const sealed = await documents.sealedOf(tunnels);
      for (const { monitor } of wanted) {
        await this.#slices.rest();
        const path = ["monitors", this.#keyOf("monitor", monitor)];
        const { id } = monitor;
        const cell = sealed.get(id);
        const whole = cell === undefined ? monitor : { ...monitor, sealed: cell };
        const entry = isUptime(monitor)
          ? uptimeEntry(monitor.kind, monitor, this.#secrets, path)
          : tunnelEntry(monitor, openTunnel(this.#api, whole), this.#secrets, path);
        found.push([path[1] ?? "", entry]);
      }
    }
    await this.#slices.rest();
    return inOrder(found);
  }

  #keyOf(kind: ThingKind, { id, name }: { readonly id: number; readonly name: string }): string {
    const key = this.#keys.key(kind, id, name);
    if (kind === "monitor" || kind === "subscription" || kind === "channel" || kind === "quiet_hours")
      this.#names.set(kind, id, key);
    return key;
  }

  #section<Thing extends { readonly id: number; readonly name: string }>(
    kind: Exclude<ThingKind, "monitor" | "alert_rule">,
    things: readonly Thing[],
    entryOf: (one: Thing, path: readonly string[]) => Entry,
  ): Readonly<Record<string, Entry>> {
    const found: (readonly [string, Entry])[] = [];
    for (const one of things) {
      const key = this.#keyOf(kind, one);
      if (!this.#keys.isExported(kind, one.id)) continue;
      const { name, ...others } = entryOf(one, [SECTION_OF[kind], key]);
      found.push([key, { ...(name !== undefined && name !== key && { name }), ...others }]);
    }
    return inOrder(found);
  }

  /** @param field `token`, or `headers.Authorization` of an object of secrets */
  #secretField(field: string, path: readonly string[]): Entry {
    const at = field.indexOf(".");
    if (at < 0) return { [field]: this.#secrets.placeholder([...path, field]) };
    const [outer, inner] = [field.slice(0, at), field.slice(at + 1)];
    return { [outer]: { [inner]: this.#secrets.placeholder([...path, outer, inner]) } };
  }
}

function subscriptionEntry(
  one: Omit<SubscriptionRecord, "name">,
  name: string | null,
  secrets: SecretNames,
  path: readonly string[],
): Entry {
  return {
    name: name === null ? null : escaped(name),
    url: secrets.placeholder([...path, "url"]),
    syncIntervalSec: one.syncIntervalS,
    timeoutSeconds: one.timeoutS,
    maxWorkers: one.maxWorkers,
    configAlertPercent: one.configAlertPercent,
    enabled: one.enabled,
  };
}

function open(entry: Entry): Entry {
  return escaped(entry) as Entry;
}

/** Members of objects beside each other. */
function merged(entries: readonly Entry[]): Entry {
  const all: Record<string, unknown> = {};
  for (const entry of entries) {
    for (const [field, value] of Object.entries(entry)) {
      const before = all[field];
      all[field] = typeof value === "object" && typeof before === "object" ? { ...before, ...value } : value;
    }
  }
  return all;
}

/** By key, as bytes compare. */
function inOrder(entries: readonly (readonly [string, Entry])[]): Readonly<Record<string, Entry>> {
  return Object.fromEntries([...entries].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)));
}
