/** `sonde admin webhook`: addresses to which a project sends its events (docs/api-contract.md#webhooks). */

import { lookup } from "node:dns/promises";
import { viewDelivery, viewWebhook } from "../../api/webhook-view.ts";
import { EVENT_TYPES, type EventType } from "../../model/event.ts";
import { formatId } from "../../model/ids.ts";
import { formatIso } from "../../model/time.ts";
import { parseUrl, withoutBrackets } from "../../model/url.ts";
import { isEventType, OLD_SECRET_MS } from "../../model/webhook.ts";
import type { Sealing } from "../../store/sealed-text.ts";
import { CommandError } from "../command.ts";
import { shorten } from "../table.ts";
import { type Act, type ActGroup, type Done, idOf, known, listText } from "./act.ts";
import type { AdminStores } from "./stores.ts";

/** Of the configuration fields of the contract. */
const MAX_URL_BYTES = 8_192;
/** Deliveries shown; the store keeps a few hundred of each webhook. */
const DELIVERIES_SHOWN = 100;
/** Wide enough for most addresses on a terminal. */
const URL_COLUMNS = 60;

const create: Act = {
  usage: "create",
  summary: "send a project's events to an address; its secret is shown once",
  options: [
    ["!--project <id>", "whose events it gets"],
    ["!--url <url>", "http or https, at a public address or one that SONDE_ALLOW_NETS opens"],
    ["--events <types>", `comma-separated; without it all of ${EVENT_TYPES.join(", ")}`],
  ],
  example:
    "webhook create --project prj_1 --url https://hooks.test-site.org/sonde --events incident.opened,incident.recovered",
  async run(stores, options) {
    const projectId = idOf("project", options.project, "--project");
    const events = eventsOf(options.events);
    const url = await urlOf(stores, options.url);
    const { newWebhookSecret } = await import("../../store/webhook-secret.ts");
    const secret = newWebhookSecret();
    const { controlPlane, nowMs } = stores;
    const sealed = await sealedWebhook(await stores.sealing(), url, secret);
    const made = await controlPlane.webhooks.create({ projectId, events, nowMs, ...sealed });
    const { id } = known(made, `project ${formatId("project", projectId)}`);
    return { facts: { id, secret }, text: `webhook ${id}\nsecret, shown once: ${secret}` };
  },
};

const list: Act = {
  usage: "list",
  summary: "the webhooks of a project",
  options: [["!--project <id>", "of which project"]],
  example: "webhook list --project prj_1",
  async run({ controlPlane }, options) {
    const projectId = idOf("project", options.project, "--project");
    const found = await controlPlane.webhooks.list(projectId);
    const webhooks = known(found, `project ${formatId("project", projectId)}`).map(viewWebhook);
    const head = [
      "id",
      { head: "url", least: 20 },
      { head: "events", least: 10 },
      "state",
      { head: "last success", dropped: 1 },
    ];
    const rows = webhooks.map((one) => [
      one.id,
      shorten(one.url, URL_COLUMNS),
      one.events === null ? "all" : one.events.join(" "),
      one.active ? (one.failing_since === null ? "on" : "failing") : `off (${one.off_reason})`,
      one.last_success_at,
    ]);
    return { facts: { webhooks, total: webhooks.length }, text: listText("webhooks", head, rows) };
  },
};

const rotate: Act = {
  usage: "rotate <webhook>",
  summary: "give it a new secret, shown once; the old one goes on signing for a day",
  example: "webhook rotate 3",
  async run(stores, _words, [text]) {
    const id = webhookId(text);
    const { SEALED_CELLS } = await import("../../store/sealed-cells.ts");
    const { newWebhookSecret } = await import("../../store/webhook-secret.ts");
    const secret = newWebhookSecret();
    const secretSealed = (await stores.sealing()).seal(SEALED_CELLS.webhook(id), secret);
    const oldUntilMs = stores.nowMs + OLD_SECRET_MS;
    known(await stores.controlPlane.webhooks.rotate(id, secretSealed, oldUntilMs), `webhook ${id}`);
    const until = formatIso(oldUntilMs);
    return {
      facts: { id, secret, old_secret_until: until },
      text: `secret of webhook ${id}, shown once: ${secret}\nthe old one goes on signing until ${until}`,
    };
  },
};

const test: Act = {
  usage: "test <webhook>",
  summary: "send it a webhook.test, whatever events it has chosen",
  example: "webhook test 3",
  async run({ controlPlane, nowMs }, _words, [text]) {
    const id = webhookId(text);
    const { active } = known(await controlPlane.webhooks.find(id), `webhook ${id}`);
    if (!active || !(await controlPlane.webhooks.test(id, nowMs))) {
      throw new CommandError(`webhook ${id} is switched off: sonde admin webhook enable ${id}`);
    }
    return { facts: { id, queued: true }, text: `on its way; see: sonde admin webhook deliveries ${id}` };
  },
};

const remove: Act = {
  usage: "rm <webhook>",
  formerly: "delete",
  summary: "remove it; what waits for it is not sent any more",
  example: "webhook rm 3",
  async run({ controlPlane }, _words, [text]) {
    const id = webhookId(text);
    if (!(await controlPlane.webhooks.remove(id))) throw new CommandError(`there is no webhook ${id}`);
    return { facts: { id, deleted: true }, text: `webhook ${id} is deleted` };
  },
};

const deliveries: Act = {
  usage: "deliveries <webhook>",
  summary: "what was sent to it, newest first, and what came of each attempt",
  example: "webhook deliveries 3 --json",
  async run({ controlPlane }, _words, [text]) {
    const id = webhookId(text);
    known(await controlPlane.webhooks.find(id), `webhook ${id}`);
    const shown = (await controlPlane.webhooks.deliveries(id, DELIVERIES_SHOWN)).map(viewDelivery);
    const head = [
      "id",
      "type",
      "state",
      { head: "created", dropped: 3 },
      { head: "attempts", dropped: 2 },
      { head: "last answer", least: 16 },
      { head: "next attempt", dropped: 1 },
    ];
    const rows = shown.map((one) => {
      const last = one.attempts.at(-1);
      const answer = last === undefined ? null : (last.error ?? `HTTP ${last.status_code}`);
      return [one.id, one.type, one.state, one.created_at, one.attempts.length, answer, one.next_attempt_at];
    });
    return {
      facts: { webhook_id: id, deliveries: shown, total: shown.length },
      text: listText("deliveries", head, rows),
    };
  },
};

const enable: Act = {
  usage: "enable <webhook>",
  summary: "switch one on again, after an operator or Sonde switched it off",
  example: "webhook enable 3",
  run: (stores, _words, [text]) => setActive(stores, text, true),
};

const disable: Act = {
  usage: "disable <webhook>",
  summary: "send it nothing until it is enabled; what waits for it is cancelled",
  example: "webhook disable 3",
  run: (stores, _words, [text]) => setActive(stores, text, false),
};

async function setActive({ controlPlane, nowMs }: AdminStores, text: unknown, active: boolean): Promise<Done> {
  const id = webhookId(text);
  known(await controlPlane.webhooks.setActive(id, active, nowMs), `webhook ${id}`);
  return { facts: { id, active }, text: `webhook ${id} is ${active ? "on" : "off"}` };
}

function webhookId(text: unknown): number {
  return idOf("key", text, "the webhook");
}

function eventsOf(words: unknown): readonly EventType[] | null {
  if (words === undefined) return null;
  const types = [
    ...new Set(
      String(words)
        .split(",")
        .map((word) => word.trim()),
    ),
  ].filter((word) => word !== "");
  const unknown = types.find((type) => !isEventType(type));
  if (unknown !== undefined)
    throw new CommandError(`--events: there is no ${unknown}; there are ${EVENT_TYPES.join(", ")}`);
  if (types.length === 0) throw new CommandError("--events: leave it out for all of them");
  return types.filter(isEventType);
}

/** Said early; the sender judges the address again at each dial. A name that does not resolve now is accepted. */
async function urlOf({ config }: AdminStores, words: unknown): Promise<string> {
  const text = String(words);
  const url = parseUrl(text);
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new CommandError("--url must be an http or https address, such as https://hooks.test-site.org/sonde");
  }
  if (url.username !== "" || url.password !== "")
    throw new CommandError("--url must not carry a user name or a password");
  if (Buffer.byteLength(text) > MAX_URL_BYTES) throw new CommandError(`--url must have at most ${MAX_URL_BYTES} bytes`);
  const { createGuard, createNameLookup, isDocumentationName, webUrlFault } = await import(
    "../../engine/contract/registry.ts"
  );
  const fault = webUrlFault(text);
  if (fault !== undefined) throw new CommandError(`--url: ${fault}`);
  const { storeEndpoints } = await import("../../store/endpoints.ts");
  const host = withoutBrackets(url.hostname);
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  if (isDocumentationName(host)) throw new CommandError(`--url: ${host} is reserved for documentation`);
  const stores = [config.databaseUrl, config.redisUrl, config.clickhouseUrl].filter((each) => each !== null);
  const ownEndpoints = await addressesOf([{ host: config.host, port: config.port }, ...stores.flatMap(storeEndpoints)]);
  const guard = createGuard({ allowNets: config.allowNets, ownEndpoints });
  const literal = guard.judgeLiteral(host, port);
  const found = literal === undefined ? await createNameLookup(config.resolvers)(host) : [];
  const judgements = literal === undefined ? found.map((ip) => guard.judge(ip, port)) : [literal];
  const refused = judgements.find((judgement) => !judgement.allowed);
  if (refused !== undefined && !refused.allowed && !judgements.some((judgement) => judgement.allowed)) {
    // Nothing opens the service's own listeners and stores.
    const advice = refused.reason.includes("Sonde's own") ? "" : "; SONDE_ALLOW_NETS opens networks";
    throw new CommandError(`--url: ${host} is refused: ${refused.reason}${advice}`);
  }
  url.hash = "";
  return url.href;
}

/** Nearly every service has a password in its path: the address is kept sealed, but for what names the receiver. */
async function sealedWebhook(sealing: Sealing, url: string, secret: string) {
  const { SEALED_CELLS } = await import("../../store/sealed-cells.ts");
  const { receiverAddress } = await import("../../model/web-address.ts");
  const secretSealed = (id: number): string => sealing.seal(SEALED_CELLS.webhook(id), secret);
  if (!sealing.bindsRows) return { url, secretSealed };
  return {
    url: receiverAddress(url),
    urlSealed: (id: number): string => sealing.seal(SEALED_CELLS.webhookUrl(id), url),
    secretSealed,
  };
}

/** Our own listener and stores as the system resolves them; one that has no address now is judged at the dial. */
async function addressesOf(places: readonly { readonly host: string; readonly port: number }[]): Promise<string[]> {
  const found = await Promise.all(
    places.map(async ({ host, port }) => {
      const addresses = await lookup(host, { all: true }).catch(() => []);
      return addresses.map(({ address, family }) => `${family === 6 ? `[${address}]` : address}:${port}`);
    }),
  );
  return found.flat();
}

export const webhook: ActGroup = {
  name: "webhook",
  summary: "addresses to which a project sends its events",
  acts: [create, list, rotate, test, enable, disable, remove, deliveries],
};
