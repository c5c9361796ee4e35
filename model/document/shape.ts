/** What may stand where in a document: one description that reads it and from which its JSON Schema is made. Pure data. */
import type { Section } from "./document.ts";

export type Shape =
  | { readonly type: "text"; readonly words?: readonly string[]; readonly about?: string; readonly nullable?: true }
  | { readonly type: "number" | "boolean" | "seconds" | "any"; readonly about?: string; readonly nullable?: true }
  | { readonly type: "list"; readonly of: Shape; readonly about?: string; readonly nullable?: true }
  | { readonly type: "things"; readonly of: Shape; readonly about?: string; readonly nullable?: true }
  | ObjectShape;

export interface ObjectShape {
  readonly type: "object";
  readonly fields: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  /** Fields that are not here are read as they are: their kind has the say. */
  readonly isOpen?: true;
  /** Members that people try, each with what to write instead. */
  readonly refused?: Readonly<Record<string, string>>;
  readonly about?: string;
  readonly nullable?: true;
}

/** What depends on the kinds of this version. */
export interface DocumentWords {
  /** Fields of monitors, each as its kind's description has it. */
  readonly monitorFields: Readonly<Record<string, Shape>>;
  /** Those of them that may stand in `defaults`. */
  readonly defaultFields: readonly string[];
  readonly kinds: readonly string[];
}

const text = { type: "text" } as const;
const textOrNull = { type: "text", nullable: true } as const;
const yesOrNo = { type: "boolean" } as const;
const number = { type: "number" } as const;
const seconds = { type: "seconds" } as const;
const any = { type: "any" } as const;
const texts = { type: "list", of: text } as const;
const severities = { type: "list", of: { type: "text", words: ["critical", "warning", "info"] } } as const;
const days = {
  type: "list",
  of: { type: "text", about: "mon, tue, wed, thu, fri, sat, sun, or a range such as mon-fri" },
} as const;

const NAME_KEYS = "a document names monitors by their keys: write keys: [shop]";
const NAME_SUBSCRIPTIONS = "a document names subscriptions by their keys: write subscriptions: [provider]";

function selectorShape(kinds: readonly string[]): ObjectShape {
  const fields = {
    all: yesOrNo,
    keys: { ...texts, about: "Keys of monitors of this document" },
    tags: { ...texts, about: "Monitors that have all of them" },
    any_tag: { ...texts, about: "Monitors that have one of them" },
    kinds: { type: "list", of: { type: "text", words: kinds } },
    family: { type: "text", words: ["tunnel", "uptime"] },
    subscriptions: { ...texts, about: "Keys of subscriptions of this document" },
    name: text,
    status: texts,
  } as const satisfies Record<string, Shape>;
  const refused = { ids: NAME_KEYS, subscription_ids: NAME_SUBSCRIPTIONS };
  const selected: ObjectShape = { type: "object", fields, refused };
  return { ...selected, fields: { ...fields, not: selected }, about: "Which monitors; resolved when it is used" };
}

const subscription: ObjectShape = {
  type: "object",
  fields: {
    url: text,
    name: textOrNull,
    syncIntervalSec: seconds,
    timeoutSeconds: seconds,
    maxWorkers: number,
    configAlertPercent: number,
    enabled: yesOrNo,
  },
  required: ["url"],
};

const quietHours: ObjectShape = {
  type: "object",
  fields: {
    name: text,
    timezone: text,
    spans: {
      type: "list",
      of: { type: "object", fields: { days, from: text, to: text }, required: ["days", "from", "to"] },
    },
    mode: { type: "text", words: ["hold", "drop"] },
    let_through: { type: "object", fields: { severity: severities, tags: texts } },
  },
  required: ["spans"],
};

function alertRule(selector: Shape): ObjectShape {
  const channels = { ...texts, about: "Keys of channels" } as const;
  return {
    type: "object",
    fields: {
      name: text,
      active: yesOrNo,
      continue: yesOrNo,
      match: { type: "object", fields: { events: texts, select: selector, severity: severities } },
      channels: { ...channels, nullable: true, about: "Keys of channels; null: every active one" },
      delay_s: seconds,
      group_by: { type: "text", about: "none, monitor, host, subscription, tag:<name> or project" },
      wait_s: seconds,
      interval_s: seconds,
      repeat_s: { ...seconds, nullable: true },
      repeat_growth: number,
      recovered: yesOrNo,
      quiet_hours: { ...textOrNull, about: "A key of quiet hours" },
      escalation: {
        type: "list",
        of: {
          type: "object",
          fields: { after_s: seconds, channels, unless: { type: "text", words: ["acknowledged"], nullable: true } },
          required: ["after_s", "channels"],
        },
      },
      template: { type: "any", nullable: true },
    },
    required: ["name"],
    refused: { repeat: "it is called repeat_s", delay: "it is called delay_s" },
  };
}

function maintenance(selector: Shape): ObjectShape {
  return {
    type: "object",
    fields: {
      title: text,
      text,
      select: selector,
      schedule: {
        type: "object",
        fields: {
          type: { type: "text", words: ["once", "weekly", "cron"] },
          starts_at: text,
          ends_at: text,
          days,
          from: text,
          minutes: number,
          cron: text,
        },
        required: ["type"],
      },
      timezone: text,
      starts_on: textOrNull,
      ends_on: textOrNull,
      announce: yesOrNo,
    },
    required: ["select", "schedule"],
  };
}

function statusPage(selector: Shape): ObjectShape {
  const component: ObjectShape = {
    type: "object",
    fields: {
      select: selector,
      title: textOrNull,
      text: textOrNull,
      merge: { type: "text", words: ["each", "worst", "share"] },
    },
    required: ["select"],
    refused: { servers: "it is called select" },
  };
  return {
    type: "object",
    fields: {
      slug: text,
      title: text,
      groups: {
        type: "list",
        of: {
          type: "object",
          fields: { title: text, open: text, components: { type: "list", of: component } },
          required: ["title", "components"],
        },
      },
    },
    required: ["groups"],
    // Their reader has the say.
    isOpen: true,
  };
}

const channel: ObjectShape = {
  type: "object",
  fields: { kind: text, name: text, active: yesOrNo },
  required: ["kind"],
  isOpen: true,
};

function sectionShapes({ monitorFields, kinds }: DocumentWords): Readonly<Record<Section, Shape>> {
  const selector = selectorShape(kinds);
  return {
    monitors: { type: "things", of: { type: "object", fields: monitorFields } },
    subscriptions: { type: "things", of: subscription },
    channels: { type: "things", of: channel },
    quiet_hours: { type: "things", of: quietHours },
    alert_rules: { type: "list", of: alertRule(selector), about: "In order: the first that matches wins" },
    maintenance: { type: "things", of: maintenance(selector) },
    status_pages: { type: "things", of: statusPage(selector) },
  };
}

/** The whole document. */
export function documentShape(words: DocumentWords): ObjectShape {
  const { monitorFields, defaultFields } = words;
  const defaults = defaultFields.flatMap((name) => {
    const field = monitorFields[name];
    return field === undefined ? [] : [[name, field] as const];
  });
  return {
    type: "object",
    fields: {
      sonde: { ...any, about: "Version of the form: 1" },
      name: { ...text, about: "Whose things these are" },
      defaults: {
        type: "object",
        fields: Object.fromEntries(defaults),
        about: "For every monitor that does not say otherwise, as far as its kind has the field",
      },
      ...sectionShapes(words),
    },
    required: ["sonde"],
  };
}
