/**
 * Receivers that stand for the services: each refuses what the real one would refuse (shape, size, escaping, who sends), in its own words, and answers
 * as it does. What they check is from the pages named beside the constants of each kind.
 */
import { Webhook } from "standardwebhooks";
import type { Received } from "../../webhooks/receivers.suite.ts";
import type { SendContext } from "./channel.ts";

export interface Said {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A service of a kind, as one of its users has set it up. */
export interface Service {
  readonly kind: string;
  /** @param url of the receiver, without a trailing slash */
  settings(url: string): Record<string, unknown>;
  /** What it answers: it takes the request, or refuses it in its own words. */
  answer(received: Received): Said;
  /** What the channel remembers of a delivery. */
  readonly reference: string | null;
  /** A service's own words for a wrong key; null: it has no key. */
  readonly wrong: { readonly settings: (url: string) => Record<string, unknown>; readonly words: string } | null;
  /** An error that comes with a status of success. */
  readonly errorInside: { readonly said: Said; readonly words: string; readonly permanent: boolean } | null;
  /** Its own way to say: later. */
  readonly later: { readonly said: Said; readonly ms: number } | null;
}

const json = (status: number, body: unknown): Said => ({
  status,
  headers: { "content-type": "application/json" },
  text: JSON.stringify(body),
});

type Json = Readonly<Record<string, unknown>>;

function bodyOf({ body, headers }: Received): Json {
  if (!/^application\/json\b/.test(headers["content-type"] ?? "")) throw new Error("not JSON");
  return JSON.parse(body) as Json;
}

function texts(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(texts) : [];
}

/** @returns what is wrong with a text of the small HTML that chats take; null: nothing */
export function htmlFault(text: string, tags: readonly string[]): string | null {
  const open: string[] = [];
  const pieces = text.split(/(<[^>]*>)/);
  for (const piece of pieces) {
    const tag = /^<(\/?)([a-z]+)(?: href="([^"<>]*)")?>$/.exec(piece);
    if (tag === null) {
      if (/[<>]/.test(piece)) return `a bare angle bracket in ${piece.slice(0, 40)}`;
      if (/&(?!(amp|lt|gt|quot|#39);)/.test(piece)) return `a bare ampersand in ${piece.slice(0, 40)}`;
      continue;
    }
    const [, slash, name = ""] = tag;
    if (!tags.includes(name)) return `unsupported tag ${name}`;
    if (name === "br") continue;
    if (slash === "") open.push(name);
    else if (open.pop() !== name) return `end tag ${name} is not open`;
  }
  return open.length === 0 ? null : `${open.join(" ")} not closed`;
}

function slackFault(body: Json): string | null {
  const { text, blocks } = body;
  if (typeof text !== "string" || text === "" || text.length > 40_000) return "no_text";
  if (/[<>]/.test(text) || /&(?!(amp|lt|gt);)/.test(text)) return "text is not escaped";
  if (!Array.isArray(blocks) || blocks.length === 0 || blocks.length > 50) return "invalid_blocks";
  // No number is published; others were refused from 13,000 on (https://github.com/slackapi/bolt-js/issues/2509).
  if (JSON.stringify(blocks).length > 12_000) return "msg_blocks_too_long";
  for (const block of blocks as readonly Json[]) {
    const inner = block.text as Json;
    const most = block.type === "header" ? 150 : 3_000;
    if (typeof inner?.text !== "string" || inner.text.length < 1 || inner.text.length > most) return "invalid_blocks";
    if (block.type === "header" && inner.type !== "plain_text") return "invalid_blocks";
    const markup = String(inner.text);
    const isOurs = /^(<!here>|<https?:[^<>|\s]+\|(Open|Acknowledge)>|\s)+$/.test(markup);
    if (inner.type === "mrkdwn" && !isOurs) return "markup with a name in it";
  }
  return null;
}

const slack: Service = {
  kind: "slack",
  settings: (url) => ({ url: `${url}/services/T0/B0/secretsecret`, mention: "<!here>" }),
  answer(received) {
    if (received.path !== "/services/T0/B0/secretsecret") return { status: 404, text: "no_service" };
    const fault = slackFault(bodyOf(received));
    return fault === null ? { status: 200, text: "ok" } : { status: 400, text: fault };
  },
  reference: null,
  wrong: { settings: (url) => ({ url: `${url}/services/T0/B0/other` }), words: "HTTP 404: no_service" },
  errorInside: null,
  later: null,
};

const mattermost: Service = {
  kind: "slack",
  settings: (url) => ({ url: `${url}/hooks/secretsecret`, flavour: "mattermost", mention: "@ops" }),
  answer(received) {
    if (received.path !== "/hooks/secretsecret")
      return json(400, { id: "web.incoming_webhook.invalid", message: "Invalid webhook" });
    const { text, attachments } = bodyOf(received);
    const [attachment] = attachments as readonly Json[];
    const said = `${text} ${attachment?.text}`;
    const calls = (said.match(/@[\w.-]+/g) ?? []).filter((call) => call !== "@ops");
    // A bold name of a fact is ours; any other mark stands after a backslash.
    const rest = String(attachment?.text)
      .replaceAll(/\*\*(?:\\.|[^*\\])*:\*\*/g, "")
      .replaceAll(/\[(?:Open|Acknowledge)\]\([^)]*\)/g, "");
    const isPlain = !/(?<!\\)(?:\\\\)*[*_`~<[]/.test(rest);
    const isFine = typeof text === "string" && text !== "" && said.length <= 16_383 && calls.length === 0 && isPlain;
    return isFine ? { status: 200, text: "ok" } : json(400, { message: `Unable to parse: ${calls} ${isPlain}` });
  },
  reference: null,
  wrong: {
    settings: (url) => ({ url: `${url}/hooks/other`, flavour: "mattermost" }),
    words: "HTTP 400: Invalid webhook",
  },
  errorInside: {
    // Of Rocket.Chat.
    said: json(200, { success: false, error: "Invalid channel" }),
    words: "HTTP 200: Invalid channel",
    permanent: true,
  },
  later: null,
};

function discordFault(body: Json): string | null {
  const [embed] = body.embeds as readonly Json[];
  const fields = (embed?.fields ?? []) as readonly Json[];
  const isLong = (value: unknown, most: number): boolean => String(value ?? "").length > most;
  if (isLong(embed?.title, 256) || isLong(embed?.description, 4_096) || fields.length > 25) return "Invalid Form Body";
  if (fields.some(({ name, value }) => isLong(name, 256) || isLong(value, 1_024) || name === "" || value === "")) {
    return "Invalid Form Body";
  }
  const all = [embed?.title, embed?.description, ...fields.flatMap(({ name, value }) => [name, value])].join("");
  if (all.length > 6_000) return "Embed size exceeds maximum size of 6000";
  const mentions = body.allowed_mentions as { readonly parse?: readonly string[] };
  if (!Array.isArray(mentions?.parse) || mentions.parse.length > 0) return "all members could be called";
  return isLong(body.content, 2_000) ? "Must be 2000 or fewer in length." : null;
}

const discord: Service = {
  kind: "discord",
  settings: (url) => ({
    url: `${url}/api/webhooks/1/secretsecret`,
    username: "Sonde",
    mention: "<@&12345678901234567>",
  }),
  answer(received) {
    if (received.path !== "/api/webhooks/1/secretsecret?wait=true")
      return json(404, { message: "Unknown Webhook", code: 10_015 });
    const fault = discordFault(bodyOf(received));
    return fault === null ? json(200, { id: "1234", channel_id: "9" }) : json(400, { message: fault, code: 50_035 });
  },
  reference: "1234",
  wrong: { settings: (url) => ({ url: `${url}/api/webhooks/1/other` }), words: "HTTP 404: Unknown Webhook" },
  errorInside: null,
  later: { said: json(429, { message: "You are being rate limited.", retry_after: 1.337, global: false }), ms: 1_337 },
};

const TELEGRAM_TOKEN = "123456789:AAsecretsecretsecret";

const telegram: Service = {
  kind: "telegram",
  settings: (url) => ({ server: url, token: TELEGRAM_TOKEN, chat_id: "-1001234" }),
  answer(received) {
    const refuse = (code: number, description: string): Said =>
      json(code, { ok: false, error_code: code, description });
    if (received.path !== `/bot${TELEGRAM_TOKEN}/sendMessage`) return refuse(401, "Unauthorized");
    const { chat_id, text, parse_mode } = bodyOf(received);
    if (chat_id !== "-1001234") return refuse(400, "Bad Request: chat not found");
    const fault = parse_mode === "HTML" ? htmlFault(String(text), ["b", "a"]) : "no parse_mode";
    if (fault !== null) return refuse(400, `Bad Request: can't parse entities: ${fault}`);
    if (text === "" || String(text).length > 4_096) return refuse(400, "Bad Request: message is too long");
    return json(200, { ok: true, result: { message_id: 77, text } });
  },
  reference: "77",
  wrong: {
    settings: (url) => ({ server: url, token: "123456789:AAotherother", chat_id: "-1001234" }),
    words: "HTTP 401: Unauthorized",
  },
  errorInside: {
    said: json(200, { ok: false, error_code: 400, description: "Bad Request: chat not found" }),
    words: "HTTP 200: Bad Request: chat not found",
    permanent: true,
  },
  later: {
    said: json(429, { ok: false, description: "Too Many Requests: retry after 35", parameters: { retry_after: 35 } }),
    ms: 35_000,
  },
};

const teams: Service = {
  kind: "teams",
  settings: (url) => ({ url: `${url}/workflows/secretsecret?sig=abcdef` }),
  answer(received) {
    if (!received.path.startsWith("/workflows/secretsecret?sig=")) {
      return json(401, {
        error: { code: "DirectApiAuthorizationRequired", message: "The request must be authenticated" },
      });
    }
    const body = bodyOf(received);
    const [attachment] = body.attachments as readonly Json[];
    const card = attachment?.content as { readonly type: string; readonly body: readonly Json[] };
    const isCard =
      attachment?.contentType === "application/vnd.microsoft.card.adaptive" && card.type === "AdaptiveCard";
    // What reads Markdown would show a name as it is not.
    const isPlain = card.body.every(({ type }) => type === "RichTextBlock");
    if (body.type !== "message" || !isCard || !isPlain) return { status: 400, text: "Bad payload received" };
    if (Buffer.byteLength(received.body) > 21_000) return { status: 413, text: "Request Entity Too Large" };
    return { status: 202, text: "" };
  },
  reference: null,
  wrong: null,
  errorInside: {
    said: {
      status: 200,
      text: "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId x",
    },
    words:
      "HTTP 200: Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId x",
    permanent: false,
  },
  later: null,
};

const googleChat: Service = {
  kind: "google_chat",
  settings: (url) => ({ url: `${url}/v1/spaces/A/messages?key=secretsecret&token=tokentoken` }),
  answer(received) {
    const url = new URL(received.path, "http://x");
    if (url.searchParams.get("token") !== "tokentoken")
      return json(401, { error: { code: 401, message: "Request had invalid credentials" } });
    const { text, cardsV2, thread } = bodyOf(received);
    const fault =
      Buffer.byteLength(received.body) > 32_000
        ? "Message is too long"
        : /[<>]/.test(String(text))
          ? "text calls a person"
          : null;
    const paragraphs = texts(cardsV2).filter((each) => each.includes("<"));
    const inCard = paragraphs.map((each) => htmlFault(each, ["b", "br"])).find((each) => each !== null);
    if (fault !== null || inCard !== undefined) return json(400, { error: { code: 400, message: fault ?? inCard } });
    const key = (thread as Json)?.threadKey;
    if (
      url.searchParams.get("messageReplyOption") !== "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD" ||
      typeof key !== "string"
    ) {
      return json(400, { error: { code: 400, message: "no thread" } });
    }
    return json(200, { name: "spaces/A/messages/B" });
  },
  reference: "spaces/A/messages/B",
  wrong: {
    settings: (url) => ({ url: `${url}/v1/spaces/A/messages?key=x&token=other` }),
    words: "HTTP 401: Request had invalid credentials",
  },
  errorInside: null,
  later: null,
};

const ROUTING_KEY = "0123456789abcdef0123456789abcdef";

const pagerduty: Service = {
  kind: "pagerduty",
  settings: (url) => ({ server: url, routing_key: ROUTING_KEY }),
  answer(received) {
    const { routing_key, event_action, dedup_key, payload } = bodyOf(received);
    const invalid = (error: string): Said =>
      json(400, { status: "invalid event", message: "Event object is invalid", errors: [error] });
    if (received.path !== "/v2/enqueue" || routing_key !== ROUTING_KEY) return invalid("Invalid routing key");
    if (typeof dedup_key !== "string" || dedup_key.length > 255) return invalid("'dedup_key' is too long");
    const { summary, severity, source } = (payload ?? {}) as Json;
    const isFull =
      typeof summary === "string" && summary !== "" && summary.length <= 1_024 && typeof source === "string";
    if (event_action === "trigger" && !isFull) return invalid("'payload.summary' is missing or blank");
    if (event_action === "trigger" && !["critical", "error", "warning", "info"].includes(String(severity)))
      return invalid("'payload.severity' is invalid");
    return json(202, { status: "success", message: "Event processed", dedup_key });
  },
  reference: "rule 1 host a",
  wrong: {
    settings: (url) => ({ server: url, routing_key: "f".repeat(32) }),
    words: "HTTP 400: Event object is invalid: Invalid routing key",
  },
  errorInside: null,
  later: null,
};

const ntfy: Service = {
  kind: "ntfy",
  settings: (url) => ({ server: url, topic: "sonde", token: "tk_secretsecret" }),
  answer(received) {
    if (received.headers.authorization !== "Bearer tk_secretsecret")
      return json(401, { code: 40_101, http: 401, error: "unauthorized" });
    const { topic, message, priority, actions } = bodyOf(received);
    const isFull = received.path === "/" && topic === "sonde" && typeof message === "string" && message !== "";
    if (!isFull || Buffer.byteLength(String(message)) > 4_096)
      return json(400, { code: 40_009, http: 400, error: "invalid request" });
    const isPriority = Number.isInteger(priority) && Number(priority) >= 1 && Number(priority) <= 5;
    if (!isPriority || (actions as readonly unknown[]).length > 3)
      return json(400, { code: 40_007, http: 400, error: "invalid priority" });
    return json(200, { id: "xE73Iyuabi", event: "message" });
  },
  reference: "xE73Iyuabi",
  wrong: {
    settings: (url) => ({ server: url, topic: "sonde", user: "ada", password: "wrongwrong" }),
    words: "HTTP 401: unauthorized",
  },
  errorInside: null,
  later: { said: json(429, { code: 42_901, http: 429, error: "limit reached" }), ms: 7_000 },
};

const PUSHOVER = { token: "a".repeat(30), user: "u".repeat(30) };

const pushover: Service = {
  kind: "pushover",
  settings: (url) => ({ server: url, ...PUSHOVER, priority_down: 2 }),
  answer(received) {
    const { token, user, message, title, priority, retry, expire, url } = bodyOf(received);
    const refuse = (error: string): Said => json(400, { errors: [error], status: 0, request: "r" });
    if (received.path !== "/1/messages.json" || token !== PUSHOVER.token) return refuse("application token is invalid");
    if (user !== PUSHOVER.user) return refuse("user identifier is invalid");
    if (typeof message !== "string" || message === "" || message.length > 1_024) return refuse("message is too long");
    if (String(title).length > 250 || String(url ?? "").length > 512) return refuse("title is too long");
    if (priority === 2 && !(Number(retry) >= 30 && Number(expire) <= 10_800))
      return refuse("retry and expire must be given");
    return json(200, { status: 1, request: "r", ...(priority === 2 && { receipt: "r".repeat(30) }) });
  },
  reference: "r".repeat(30),
  wrong: {
    settings: (url) => ({ server: url, token: PUSHOVER.token, user: "x".repeat(30) }),
    words: "HTTP 400: user identifier is invalid",
  },
  errorInside: {
    said: json(200, { status: 0, errors: ["application is over its quota"] }),
    words: "HTTP 200: application is over its quota",
    permanent: true,
  },
  later: null,
};

const gotify: Service = {
  kind: "gotify",
  settings: (url) => ({ server: `${url}/gotify/`, token: "Asecretsecret" }),
  answer(received) {
    const refuse = (code: number, errorDescription: string): Said =>
      json(code, { error: "x", errorCode: code, errorDescription });
    if (received.headers["x-gotify-key"] !== "Asecretsecret")
      return refuse(401, "you need to provide a valid access token or user credentials to access this api");
    const { message, extras } = bodyOf(received);
    if (received.path !== "/gotify/message" || typeof message !== "string" || message === "")
      return refuse(400, "Field 'message' is required");
    const display = (extras as Json)["client::display"] as Json;
    return display?.contentType === "text/plain"
      ? json(200, { id: 25, appid: 5 })
      : refuse(400, "names would be Markdown");
  },
  reference: "25",
  wrong: {
    settings: (url) => ({ server: url, token: "Aother" }),
    words: "HTTP 401: you need to provide a valid access token or user credentials to access this api",
  },
  errorInside: null,
  later: null,
};

const matrix: Service = {
  kind: "matrix",
  settings: (url) => ({ homeserver: url, room: "!ops:test-site.org", access_token: "syt_secretsecret" }),
  answer(received) {
    if (received.headers.authorization !== "Bearer syt_secretsecret")
      return json(401, { errcode: "M_UNKNOWN_TOKEN", error: "Invalid access token passed." });
    const path = /^\/_matrix\/client\/v3\/rooms\/!ops%3Atest-site\.org\/send\/m\.room\.message\/sonde-[\w-]+$/;
    if (received.method !== "PUT" || !path.test(received.path))
      return json(404, { errcode: "M_UNRECOGNIZED", error: "Unrecognized request" });
    const content = bodyOf(received);
    const fault = htmlFault(String(content.formatted_body), ["strong", "b", "a", "br"]);
    if (fault !== null) return json(400, { errcode: "M_BAD_JSON", error: fault });
    if (JSON.stringify(content["m.mentions"]) !== "{}")
      return json(400, { errcode: "M_BAD_JSON", error: "a person is called" });
    if (Buffer.byteLength(received.body) > 60_000)
      return json(413, { errcode: "M_TOO_LARGE", error: "event too large" });
    return json(200, { event_id: "$event:test-site.org" });
  },
  reference: "$event:test-site.org",
  wrong: {
    settings: (url) => ({ homeserver: url, room: "!ops:test-site.org", access_token: "other" }),
    words: "HTTP 401: M_UNKNOWN_TOKEN: Invalid access token passed.",
  },
  errorInside: null,
  later: {
    said: json(429, { errcode: "M_LIMIT_EXCEEDED", error: "Too many requests", retry_after_ms: 2_500 }),
    ms: 2_500,
  },
};

const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

const webhook: Service = {
  kind: "webhook",
  settings: (url) => ({ url: `${url}/hook/secretsecret`, secret: WEBHOOK_SECRET }),
  answer(received) {
    try {
      const { type, data } = new Webhook(WEBHOOK_SECRET).verify(received.body, { ...received.headers }) as Json;
      const isFull = String(type).startsWith("alert.") && typeof (data as Json).title === "string";
      return isFull ? { status: 204, text: "" } : { status: 400, text: "no title" };
    } catch {
      return { status: 401, text: "no matching signature" };
    }
  },
  reference: null,
  wrong: {
    settings: (url) => ({ url, secret: `whsec_${Buffer.alloc(32, 8).toString("base64")}` }),
    words: "HTTP 401: no matching signature",
  },
  errorInside: null,
  later: null,
};

const custom: Service = {
  kind: "custom",
  settings: (url) => ({
    url: `${url}/send/{{ secret.token }}?to={{ message.severity }}`,
    method: "PUT",
    headers: { Authorization: "Bearer {{ secret.token }}", "X-Name": "{{ name }}" },
    body: '{"text": {{ msg | json }}, "state": {{ status | json }}}',
    secrets: { token: "secretsecret" },
  }),
  answer(received) {
    const isTold = received.method === "PUT" && /^\/send\/secretsecret\?to=\w+$/.test(received.path);
    if (!isTold || received.headers.authorization !== "Bearer secretsecret") return { status: 403, text: "go away" };
    const { text, state } = bodyOf(received);
    return typeof text === "string" && typeof state === "string"
      ? { status: 201, text: "" }
      : { status: 400, text: "no text" };
  },
  reference: null,
  wrong: { settings: (url) => ({ ...custom.settings(url), secrets: { token: "other" } }), words: "HTTP 403: go away" },
  errorInside: null,
  later: null,
};

const apprise: Service = {
  kind: "apprise",
  settings: (url) => ({ server: url, urls: ["signal://localhost:9922/+15551234/secretsecret"], tag: "ops" }),
  answer(received) {
    const { urls, body, type } = bodyOf(received);
    if (received.path !== "/notify") return json(424, { error: "One or more notification could not be sent." });
    if (urls !== "signal://localhost:9922/+15551234/secretsecret")
      return json(400, { error: "An invalid payload was specified." });
    const isFull =
      typeof body === "string" && body !== "" && ["info", "success", "warning", "failure"].includes(String(type));
    return isFull ? json(200, { error: null, details: [] }) : json(400, { error: "Bad FORM Payload provided." });
  },
  reference: null,
  wrong: {
    settings: (url) => ({ server: url, key: "other" }),
    words: "HTTP 424: One or more notification could not be sent.",
  },
  errorInside: { said: { status: 204, text: "" }, words: "HTTP 204: no service has this key or tag", permanent: true },
  later: null,
};

export const SERVICES: readonly Service[] = [
  slack,
  mattermost,
  discord,
  telegram,
  teams,
  googleChat,
  pagerduty,
  ntfy,
  pushover,
  gotify,
  matrix,
  webhook,
  custom,
  apprise,
];

export const CONTEXT: SendContext = { notificationId: "41", nowMs: Date.now(), previous: null, projectId: 1 };
