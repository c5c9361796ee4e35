/** Notifications of Uptime Kuma as channels. Each type keeps flat fields of its own in one JSON text. */
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
import { booleanAt, type Fields, fieldsIn, jsonIn, memberOf, quoted, textAt } from "../values.ts";
import { idIn, jsonMember, type KumaTables, rowsOf } from "./tables.ts";

type Reading = { readonly draft: Draft; readonly path: string };
type ChannelReader = (config: Fields, reading: Reading) => ChannelParts | undefined;

/** Channel keys by the notification's id. */
export function readChannels(tables: KumaTables, draft: Draft): ReadonlyMap<number, string> {
  const keys = new Map<number, string>();
  for (const row of rowsOf(tables, "notification")) {
    const id = idIn(memberOf(row, "id"));
    if (id === undefined) continue;
    const config = fieldsIn(jsonMember(row, "config"));
    const name = textAt(row, "name") ?? textAt(config, "name") ?? `Notification ${id}`;
    const path = `notification ${id} (${quoted(name)})`;
    const type = textAt(config, "type") ?? "";
    const reader = memberOf(READERS, type);
    const parts = reader?.(config, { draft, path });
    if (parts === undefined) {
      if (reader === undefined) draft.notes.add("lost", path, `notifications by ${quoted(type)} are left out`);
      continue;
    }
    const isActive = booleanAt(row, "active") ?? true;
    const key = draft.channel(`kuma-${id}`, name, { ...parts, ...(isActive ? {} : { active: false }) });
    if (key !== undefined) keys.set(id, key);
    if (booleanAt(row, "is_default") === true)
      draft.notes.add("info", path, "it was the default for new monitors; here a rule without a selector is");
  }
  return keys;
}

const text = (config: Fields, name: string) => textAt(config, name)?.trim();
const whole = (config: Fields, name: string) => wholeIn(memberOf(config, name));
const flag = (config: Fields, name: string) => (booleanAt(config, name) === true ? true : undefined);

/** By what the type is called in Kuma. */
const READERS: Readonly<Record<string, ChannelReader>> = {
  discord: (config) => ({
    kind: "discord",
    url: text(config, "discordWebhookUrl"),
    username: text(config, "discordUsername"),
    thread_id: text(config, "threadId"),
  }),
  telegram: (config) => ({
    kind: "telegram",
    token: text(config, "telegramBotToken"),
    chat_id: text(config, "telegramChatID"),
    thread_id: whole(config, "telegramMessageThreadID"),
    silent: flag(config, "telegramSendSilently"),
    server: baseUrlIn(memberOf(config, "telegramServerUrl")),
  }),
  slack: (config) => ({ kind: "slack", url: text(config, "slackwebhookURL") }),
  mattermost: (config) => ({ kind: "slack", flavour: "mattermost", url: text(config, "mattermostWebhookUrl") }),
  "rocket.chat": (config) => ({ kind: "slack", flavour: "rocketchat", url: text(config, "rocketwebhookURL") }),
  smtp: readMail,
  webhook: readWebhook,
  ntfy: (config) => {
    const way = text(config, "ntfyAuthenticationMethod");
    return {
      kind: "ntfy",
      server: baseUrlIn(memberOf(config, "ntfyserverurl")),
      topic: text(config, "ntfytopic"),
      priority: whole(config, "ntfyPriority"),
      priority_down: whole(config, "ntfyPriorityDown"),
      ...(way === "accessToken" && { token: text(config, "ntfyaccesstoken") }),
      ...(way === "usernamePassword" && { user: text(config, "ntfyusername"), password: text(config, "ntfypassword") }),
    };
  },
  gotify: (config) => ({
    kind: "gotify",
    server: baseUrlIn(memberOf(config, "gotifyserverurl")),
    token: text(config, "gotifyapplicationToken"),
    priority: whole(config, "gotifyPriority"),
  }),
  pushover: (config) => ({
    kind: "pushover",
    user: text(config, "pushoveruserkey"),
    token: text(config, "pushoverapptoken"),
    device: text(config, "pushoverdevice"),
    priority: whole(config, "pushoverpriority"),
    sound: text(config, "pushoversounds"),
  }),
  matrix: (config) => ({
    kind: "matrix",
    homeserver: baseUrlIn(memberOf(config, "homeserverUrl")),
    room: text(config, "internalRoomId"),
    access_token: text(config, "accessToken"),
  }),
  teams: (config) => ({ kind: "teams", url: text(config, "webhookUrl") }),
  GoogleChat: (config) => ({ kind: "google_chat", url: text(config, "googleChatWebhookURL") }),
  PagerDuty: (config) => ({
    kind: "pagerduty",
    routing_key: text(config, "pagerdutyIntegrationKey"),
    region: (text(config, "pagerdutyIntegrationUrl") ?? "").includes(".eu.") ? "eu" : undefined,
  }),
  apprise: (config, { draft, path }) => {
    const server = draft.options.appriseServer;
    const urls = text(config, "appriseURL");
    if (server !== undefined && urls !== undefined)
      return { kind: "apprise", server, urls: urls.split(/[\s,]+/).slice(0, 50) };
    draft.notes.add("lost", path, "notifications by Apprise need an Apprise API server: --apprise-server names it");
    return undefined;
  },
};

function readMail(config: Fields, { draft, path }: Reading): ChannelParts {
  if (text(config, "smtpBCC") !== undefined) draft.notes.add("lost", path, "blind copies (BCC)");
  if (text(config, "customSubject") !== undefined || text(config, "customBody") !== undefined)
    draft.notes.add("changed", path, "its own subject and text: mails have ours");
  return {
    kind: "email",
    to: addressesIn(memberOf(config, "smtpTo")),
    cc: addressesIn(memberOf(config, "smtpCC")),
    from: text(config, "smtpFrom"),
    smtp_url: smtpUrl({
      host: memberOf(config, "smtpHost"),
      port: memberOf(config, "smtpPort"),
      isTls: memberOf(config, "smtpSecure"),
      user: memberOf(config, "smtpUsername"),
      password: memberOf(config, "smtpPassword"),
    }),
  };
}

/** Kuma's own body: what receivers of it were written for. */
const KUMA_BODY =
  '{"heartbeat": {{ heartbeatJSON | json }}, "monitor": {{ monitorJSON | json }}, "msg": {{ msg | json }}}';

function readWebhook(config: Fields, { draft, path }: Reading): ChannelParts {
  const contentType = text(config, "webhookContentType") ?? "json";
  const method = (text(config, "httpMethod") ?? "post").toUpperCase();
  const custom = textAt(config, "webhookCustomBody");
  if (contentType === "form-data") draft.notes.add("changed", path, "form data is sent as JSON");
  const headers = headersIn(fieldsIn(jsonIn(memberOf(config, "webhookAdditionalHeaders"))));
  return {
    kind: "custom",
    url: text(config, "webhookURL"),
    method,
    ...sealedHeaders({ "Content-Type": "application/json", ...headers }),
    ...(method === "GET" ? {} : { body: contentType === "custom" && custom !== undefined ? custom : KUMA_BODY }),
  };
}
