/** What a document would do to channels. Secrets are compared as they are kept, and never shown. */
import { isDeepStrictEqual } from "node:util";
import type { ChannelEntry, Document } from "../../model/document/document.ts";
import { formatId } from "../../model/ids.ts";
import { readSettings, type SplitSettings } from "../../scheduler/alerts/channels/settings.ts";
import type { ChannelRecord, OpenableChannel } from "../../store/sql/alerts/channels-port.ts";
import { hasSecrets, kindOf, MOST_CHANNELS, nameOf, openedOf, sealedOf } from "../endpoints/channels.ts";
import { ApiError, badRequest, refusal, wordsOf } from "../errors.ts";
import { staysConfirmed } from "../mail-confirmation.ts";
import type { DraftPlan } from "./draft-plan.ts";
import { channelEntry } from "./entries.ts";
import type { References } from "./references.ts";
import { type Found, Things, type Wanted } from "./things.ts";

type KeptSettings = Pick<SplitSettings, "settings" | "secrets">;

interface WantedChannel extends Wanted {
  readonly kindOfChannel: string;
  readonly name: string;
  readonly active: boolean;
  readonly settings: SplitSettings;
  /** null: it is to be made. */
  readonly before: KeptSettings | null;
}

export async function planChannels(plan: DraftPlan, document: Document, references: References): Promise<void> {
  const { channels } = plan.api.controlPlane;
  const records = await channels.list(plan.call.project.id);
  const openable = await channels.openable(records.map(({ id }) => id));
  const entries = Object.entries(document.channels ?? {});
  const planner = new ChannelPlanner(plan, records, openable);
  planner.leave(new Set(entries.map(([key]) => key)));
  for (const [key, entry] of entries) await planner.plan(key, entry);
  references.know(
    "channel",
    plan.channels.create.map(({ key }) => key),
    planner.there,
    { all: records.map(({ id }) => id), removed: plan.channels.remove.map(({ id }) => id) },
  );
}

class ChannelPlanner {
  readonly there: (readonly [key: string, id: number])[] = [];
  readonly #plan: DraftPlan;
  readonly #things: Things<ChannelRecord>;
  readonly #openable: ReadonlyMap<number, OpenableChannel>;
  /** Who has a name: an id, or the key of one that is to be made. */
  readonly #holders: Map<string, number | string>;

  constructor(plan: DraftPlan, records: readonly ChannelRecord[], openable: readonly OpenableChannel[]) {
    this.#plan = plan;
    const [, message] = wordsOf("channelsFull");
    this.#things = new Things(plan, "channel", records, { most: MOST_CHANNELS, message });
    this.#openable = new Map(openable.map((one) => [one.id, one]));
    this.#holders = new Map(records.map(({ id, name }) => [name, id]));
  }

  leave(keys: ReadonlySet<string>): void {
    const removed = this.#things.leave(keys, ({ id, name }) => ({ id: formatId("channel", id), name }));
    for (const { id, name, updatedAtMs: version } of removed) {
      this.#holders.delete(name);
      this.#plan.channels.remove.push({ id, version });
    }
  }

  async plan(key: string, entry: ChannelEntry): Promise<void> {
    const wanted: Wanted = { kind: "channel", key, path: ["channels", key], entry };
    const isSame = ({ kind, name }: ChannelRecord) => kind === entry.kind && name === (entry.name ?? key);
    await this.#things.each(wanted, isSame, (found) => {
      const read = this.#plan.attempt(wanted, entry, () => this.#read(wanted, entry, found));
      if (read === undefined) return;
      this.#takeName(read, found.now);
      if (found.now === null) this.#create(read);
      else this.#change(read, found.now, found.act);
    });
  }

  /** @throws 400 */
  #read(wanted: Wanted, entry: ChannelEntry, { now }: Found<ChannelRecord>): WantedChannel {
    const { kind: _, name, active, ...fields } = entry;
    const kind = kindOf(wanted.entry);
    if (now !== null && now.kind !== kind.kind) throw refusal("channelKindFixed");
    const before = now === null ? null : this.#opened(now);
    const settings = readSettings(kind, { ...before?.settings, ...fields }, before);
    if (settings.fault !== null) throw badRequest(settings.fault);
    return {
      ...wanted,
      kindOfChannel: kind.kind,
      name: name === undefined && now !== null ? now.name : nameOf({ name: name ?? wanted.key }),
      active: active ?? now?.active ?? true,
      settings,
      before,
    };
  }

  #opened({ id, settings }: ChannelRecord): KeptSettings {
    const found = this.#openable.get(id);
    return found === undefined ? { settings, secrets: {} } : openedOf(this.#plan.api, found);
  }

  /** @throws 409 */
  #takeName({ key, name }: WantedChannel, now: ChannelRecord | null): void {
    const holder = this.#holders.get(name);
    if (holder !== undefined && holder !== now?.id) throw new ApiError(409, `Another channel has the name ${name}.`);
    this.#holders.set(name, now?.id ?? key);
  }

  #create(wanted: WantedChannel): void {
    const { api, call, channels } = this.#plan;
    const { kindOfChannel: kind, name, active, settings: read } = wanted;
    const after = channelEntry({ kind, name, active, settings: read.settings });
    const managed = this.#things.describe(wanted, "create", {
      id: null,
      name,
      before: {},
      after,
      secret: Object.keys(read.secrets),
    });
    if (managed === null) return;
    channels.create.push({
      ...managed,
      input: {
        projectId: call.project.id,
        kind,
        name,
        active,
        nowMs: call.nowMs,
        settings: read.settings,
        secretNames: read.secretNames,
        sealed: hasSecrets(read) ? (id: number) => sealedOf(api, id, read) : null,
      },
    });
  }

  #change(wanted: WantedChannel, now: ChannelRecord, act: Found<ChannelRecord>["act"]): void {
    this.there.push([wanted.key, now.id]);
    const { name, active, settings: read, before } = wanted;
    const [then, after] = [channelEntry(now), channelEntry({ ...now, name, active, settings: read.settings })];
    const secrets = before?.secrets ?? {};
    const secret = [...new Set([...Object.keys(secrets), ...Object.keys(read.secrets)])].filter(
      (field) => !isDeepStrictEqual(secrets[field], read.secrets[field]),
    );
    const described = { id: formatId("channel", now.id), name, before: then, after, secret };
    const managed = this.#things.describe(wanted, act, described);
    if (managed === null) return;
    const isChanged = secret.length > 0 || !isDeepStrictEqual(then, after);
    const { api } = this.#plan;
    this.#plan.channels.change.push({
      id: now.id,
      version: now.updatedAtMs,
      change: isChanged
        ? {
            name,
            active,
            settings: read.settings,
            secretNames: read.secretNames,
            sealed: hasSecrets(read) ? sealedOf(api, now.id, read) : null,
            ...(!staysConfirmed(now, read) && { verifiedAtMs: null }),
          }
        : null,
      managed,
    });
  }
}
