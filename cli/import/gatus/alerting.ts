/** Providers and alerts of Gatus as channels and rules. */
import type { FieldValue } from "../../../model/document/document.ts";
import { Audiences, type ChannelUse } from "../audiences.ts";
import {
  addressesIn,
  baseUrlIn,
  type ChannelParts,
  headersIn,
  sealedHeaders,
  smtpUrl,
  wholeIn,
} from "../channel-parts.ts";
import type { Draft } from "../draft.ts";
import { goDurationIn } from "../durations.ts";
import { keyOf } from "../keys.ts";
import { booleanAt, type Fields, fieldsAt, isFields, listAt, listIn, memberOf, numberAt, textAt } from "../values.ts";
import type { GatusMonitor } from "./endpoints.ts";

/** Gatus' own standard. */
const FAILURES = 3;
const text = (config: Fields, name: string) => textAt(config, name)?.trim();
const whole = (config: Fields, name: string) => wholeIn(memberOf(config, name));

type ProviderReader = (config: Fields) => ChannelParts;

const PROVIDERS: Readonly<Record<string, ProviderReader>> = {
  slack: (config) => ({ kind: "slack", url: text(config, "webhook-url") }),
  mattermost: (config) => ({ kind: "slack", flavour: "mattermost", url: text(config, "webhook-url") }),
  discord: (config) => ({ kind: "discord", url: text(config, "webhook-url") }),
  telegram: (config) => ({
    kind: "telegram",
    token: text(config, "token"),
    chat_id: text(config, "id"),
    thread_id: whole(config, "topic-id"),
    server: baseUrlIn(memberOf(config, "api-url")),
  }),
  email: (config) => ({
    kind: "email",
    to: addressesIn(memberOf(config, "to")),
    from: text(config, "from"),
    smtp_url: smtpUrl({
      host: memberOf(config, "host"),
      port: memberOf(config, "port"),
      isTls: false,
      user: memberOf(config, "username") ?? memberOf(config, "from"),
      password: memberOf(config, "password"),
    }),
  }),
  ntfy: (config) => ({
    kind: "ntfy",
    server: baseUrlIn(memberOf(config, "url")),
    topic: text(config, "topic"),
    priority: whole(config, "priority"),
    token: text(config, "token"),
  }),
  gotify: (config) => ({
    kind: "gotify",
    server: baseUrlIn(memberOf(config, "server-url")),
    token: text(config, "token"),
    priority: whole(config, "priority"),
  }),
  pushover: (config) => ({
    kind: "pushover",
    token: text(config, "application-token"),
    user: text(config, "user-key"),
    priority: whole(config, "priority"),
    sound: text(config, "sound"),
    device: text(config, "device"),
  }),
  pagerduty: (config) => ({ kind: "pagerduty", routing_key: text(config, "integration-key") }),
  matrix: (config) => ({
    kind: "matrix",
    homeserver: baseUrlIn(memberOf(config, "server-url")) ?? "https://matrix-client.matrix.org",
    access_token: text(config, "access-token"),
    room: text(config, "internal-room-id"),
  }),
  "teams-workflows": (config) => ({ kind: "teams", url: text(config, "webhook-url") }),
  googlechat: (config) => ({ kind: "google_chat", url: text(config, "webhook-url") }),
  custom: readCustom,
};

/** Gatus' placeholders in the words of our templates. */
const TEMPLATE_WORDS: Readonly<Record<string, string>> = {
  "[ALERT_DESCRIPTION]": "{{ msg }}",
  "[ALERT_TRIGGERED_OR_RESOLVED]": "{{ status }}",
  "[ENDPOINT_NAME]": "{{ name }}",
  "[ENDPOINT_GROUP]": "",
  "[ENDPOINT_URL]": "{{ hostnameOrURL }}",
  "[RESULT_ERRORS]": "{{ message.summary }}",
};

function templated(words: string | undefined): string | undefined {
  return words?.replace(/\[[A-Z_]{4,40}\]/g, (word) => memberOf(TEMPLATE_WORDS, word) ?? word);
}

function readCustom(config: Fields): ChannelParts {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(headersIn(fieldsAt(config, "headers")) ?? {}))
    headers[name] = templated(value) ?? "";
  const method = text(config, "method")?.toUpperCase();
  return {
    kind: "custom",
    url: templated(text(config, "url")),
    method: method ?? "GET",
    ...(Object.keys(headers).length > 0 && sealedHeaders(headers)),
    body: templated(textAt(config, "body")),
  };
}

export class Alerting {
  readonly #draft: Draft;
  readonly #providers: Fields;
  readonly #audiences = new Audiences();
  /** Channel keys by provider and settings; null for a provider that has no channel. */
  readonly #channels = new Map<string, string | null>();

  constructor(alerting: Fields, draft: Draft) {
    this.#providers = alerting;
    this.#draft = draft;
    for (const name of Object.keys(alerting)) {
      if (isFields(memberOf(alerting, name)) && !Object.hasOwn(PROVIDERS, name))
        draft.notes.add("lost", `alerting ${name}`, "there is no channel of this kind");
    }
  }

  /** The alerts of one endpoint: when it is down, and who is notified. */
  add({ monitor, row, group, intervalS }: GatusMonitor): void {
    const alerts = listAt(row, "alerts")
      .filter(isFields)
      .map((alert) => this.#merged(alert))
      .filter((alert) => booleanAt(alert, "enabled") ?? true);
    const thresholds = alerts.map(thresholdOf);
    // Without alerts a failed check is down at once, as on Gatus' page.
    const least = thresholds.length === 0 ? 1 : Math.min(...thresholds);
    if (monitor.type !== "push") monitor.failures(least);
    const told = alerts.flatMap((alert, index) =>
      this.#told(alert, group, ((thresholds[index] ?? least) - least) * intervalS),
    );
    this.#audiences.add(monitor, told);
    if (alerts.length === 0) return;
    this.#draft.notes.once("info", "alerts", "success-threshold is left out: one success ends an incident");
  }

  finish(): void {
    this.#audiences.writeRules(this.#draft);
  }

  /** Over the provider's standard alert. */
  #merged(alert: Fields): Fields {
    const provider = fieldsAt(this.#providers, textAt(alert, "type") ?? "");
    const present = Object.entries(alert).filter(([, value]) => value !== null && value !== undefined && value !== 0);
    return { ...fieldsAt(provider, "default-alert"), ...Object.fromEntries(present) };
  }

  #told(alert: Fields, group: string, delayS: number): readonly ChannelUse[] {
    const channel = this.#channel(alert, group);
    if (channel === null) return [];
    const reminder = goDurationIn(memberOf(alert, "minimum-reminder-interval")) ?? 0;
    const recovered = booleanAt(alert, "send-on-resolved") ?? false;
    return [{ channel, delayS, recovered, repeatS: reminder > 0 ? reminder : null }];
  }

  /** Settings of a group or of one alert make a channel of their own. */
  #channel(alert: Fields, group: string): string | null {
    const type = textAt(alert, "type") ?? "";
    const { overrides, "default-alert": _, ...standard } = fieldsAt(this.#providers, type);
    const ofGroup = listIn(overrides)
      .filter(isFields)
      .find((one) => group !== "" && memberOf(one, "group") === group);
    const override = fieldsAt(alert, "provider-override");
    const config: Fields = { ...standard, ...ofGroup, ...override };
    const name = JSON.stringify([type, config]);
    const known = this.#channels.get(name);
    if (known !== undefined) return known;
    const isSet = isFields(memberOf(this.#providers, type));
    const reader = memberOf(PROVIDERS, type);
    const parts = isSet ? reader?.(config) : undefined;
    const title = ofGroup === undefined ? type : `${type} ${group}`;
    const channelKey = keyOf(type, ofGroup === undefined ? "" : group);
    const made = parts === undefined ? undefined : this.#draft.channel(channelKey, title, parts as ChannelFields);
    const key = made ?? null;
    if (!isSet) this.#draft.notes.once("lost", `alerts by ${type}`, `no settings for ${type} stand under alerting`);
    this.#channels.set(name, key);
    return key;
  }
}

type ChannelFields = { readonly kind: string; readonly [field: string]: FieldValue | undefined };

function thresholdOf(alert: Fields): number {
  const threshold = numberAt(alert, "failure-threshold") ?? 0;
  return threshold > 0 ? Math.round(threshold) : FAILURES;
}
