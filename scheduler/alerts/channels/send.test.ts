import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Message } from "../../../model/alert-message.ts";
import { answering, hanging, openReceiver, type Receiver, type Temper } from "../../webhooks/receivers.suite.ts";
import { type Attempts, attemptsHere } from "../attempts/attempts.ts";
import { ATTEMPT_MS } from "../post.ts";
import { CHANNEL_KINDS, channelKind } from "./index.ts";
import { HOSTILE_NAMES, hostile, MESSAGE } from "./messages.suite.ts";
import { createSendToChannel } from "./send.ts";
import { CONTEXT, type Said, SERVICES, type Service } from "./services.suite.ts";
import { secretTexts } from "./settings.ts";

const ENGINE = {
  allowNets: ["127.0.0.0/8"],
  publicAllowNets: [],
  ownEndpoints: [],
  resolvers: [],
  extraCaPem: null,
  rdapBootstrapUrl: null,
  canaries: null,
};
const NEVER = new AbortController().signal;

const receivers: Receiver[] = [];
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close();
});

async function receive(temper: Temper): Promise<{ readonly receiver: Receiver; readonly url: string }> {
  const receiver = await openReceiver(temper);
  receivers.push(receiver);
  return { receiver, url: `http://127.0.0.1:${receiver.port}` };
}

const saying =
  ({ status, headers = {}, text }: Said): Temper =>
  (_received, response) =>
    void response.writeHead(status, { ...headers }).end(text);

const asService =
  (service: Service): Temper =>
  (received, response) => {
    let said: Said;
    try {
      said = service.answer(received);
    } catch (error) {
      said = { status: 400, text: `cannot be read: ${error}` };
    }
    saying(said)(received, response);
  };

function sender(allowNets: readonly string[] = ENGINE.allowNets) {
  const mail = { smtpUrl: null, from: null };
  const clocks = { monotonicNowMs: () => performance.now() };
  return createSendToChannel({ attempts: attemptsHere({ ...ENGINE, allowNets }), mail, version: "test", clocks });
}
const send = sender();

describe("the list of kinds", () => {
  it("has a receiver for each that speaks HTTP, and no name twice", () => {
    const names = CHANNEL_KINDS.map(({ kind }) => kind);
    expect(new Set(names).size).toBe(names.length);
    const tried = new Set(SERVICES.map(({ kind }) => kind));
    expect(names.filter((kind) => !tried.has(kind))).toEqual(["email"]);
  });
});

describe.each(
  SERVICES.map((service) => [`${service.kind} ${service.settings("x").flavour ?? ""}`.trim(), service] as const),
)("%s", (_name, service) => {
  const { kind } = service;

  it("is taken by the service, and shows what was sent without its secrets", async () => {
    const { url, receiver } = await receive(asService(service));
    const settings = service.settings(url);
    const outcome = await send({ kind, settings }, MESSAGE, CONTEXT, NEVER);
    expect(outcome).toMatchObject({ delivered: true, reference: service.reference });
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]?.headers["user-agent"]).toBe("Sonde/test (alert)");
    const found = channelKind(kind);
    if (found === undefined) throw new Error(kind);
    for (const secret of secretTexts(found, settings)) expect(outcome.sent).not.toContain(secret);
    expect(outcome.sent).toContain("127.0.0.1");
  });

  it("is taken whatever stands in names, and of every reason", async () => {
    const { url, receiver } = await receive(asService(service));
    const settings = service.settings(url);
    for (const name of HOSTILE_NAMES) {
      expect(await send({ kind, settings }, hostile(name), CONTEXT, NEVER)).toMatchObject({ delivered: true });
    }
    for (const [reason, severity] of [
      ["recovered", "ok"],
      ["acknowledged", "info"],
      ["expiring", "warning"],
    ] as const) {
      const message = { ...MESSAGE, reason, severity, acknowledge: null, items: [], facts: [], summary: "" };
      expect(await send({ kind, settings }, message, CONTEXT, NEVER)).toMatchObject({ delivered: true });
    }
    const isInjected = receiver.received.some(({ headers }) => Object.hasOwn(headers, "x-injected"));
    expect(isInjected).toBe(false);
  });

  it("repeats no secret that the service says, whole or cut, with its host or without", async () => {
    const { receiver, url } = await receive(({ path }, response) => {
      const words = JSON.stringify({ error: `Not Found: ${"x".repeat(270)}${path}`, path, message: `no ${path}` });
      response.writeHead(404).end(words);
    });
    const settings = service.settings(`${url}/3f9c2b7d1e5a4680/`);
    const outcome = await send({ kind, settings }, MESSAGE, CONTEXT, NEVER);
    const isAddressSecret = secretTexts(channelKind(kind) as never, settings).some((text) => text.startsWith("http"));
    if (isAddressSecret) {
      expect(receiver.received[0]?.path).toContain("3f9c2b7d1e5a4680");
      expect(JSON.stringify(outcome)).not.toContain("3f9c");
    }
  });

  it("tells the service's words and whether they may change", async () => {
    const { wrong, errorInside, later } = service;
    if (wrong !== null) {
      const { url } = await receive(asService(service));
      const outcome = await send({ kind, settings: wrong.settings(url) }, MESSAGE, CONTEXT, NEVER);
      expect(outcome).toMatchObject({ delivered: false, error: wrong.words, permanent: kind !== "apprise" });
    }
    if (errorInside !== null) {
      const { url } = await receive(saying(errorInside.said));
      const outcome = await send({ kind, settings: service.settings(url) }, MESSAGE, CONTEXT, NEVER);
      const { words: error, permanent } = errorInside;
      expect(outcome).toMatchObject({ delivered: false, error, permanent });
    }
    if (later !== null) {
      const said = { ...later.said, headers: { ...later.said.headers, "retry-after": "7" } };
      const { url } = await receive(saying(said));
      const outcome = await send({ kind, settings: service.settings(url) }, MESSAGE, CONTEXT, NEVER);
      expect(outcome).toMatchObject({ delivered: false, retryAfterMs: later.ms, permanent: false });
    }
  });

  it("comes again later after 429 and 500, never after 410, and follows no redirect", async () => {
    const elsewhere = await receive(answering(200));
    const cases = [
      [429, { retryAfterMs: 7_000, permanent: false }],
      [500, { permanent: false }],
      [503, { permanent: false }],
      [410, { permanent: true }],
      [302, { permanent: false, error: "HTTP 302: redirects are not followed" }],
    ] as const;
    const statuses = cases.map(([status]) => status);
    const headers = { "retry-after": "7", location: elsewhere.receiver.url };
    const { url } = await receive((_received, response) => {
      response.writeHead(statuses.shift() ?? 500, headers).end("<html>busy</html>");
    });
    for (const [status, expected] of cases) {
      const outcome = await send({ kind, settings: service.settings(url) }, MESSAGE, CONTEXT, NEVER);
      expect(outcome).toMatchObject({ delivered: false, statusCode: status, ...expected });
    }
    expect(elsewhere.receiver.received).toHaveLength(0);
  });

  it("is not delivered to a service that says nothing, or hangs", async () => {
    const cut = await receive((_received, response) => response.socket?.destroy());
    const outcome = await send({ kind, settings: service.settings(cut.url) }, MESSAGE, CONTEXT, NEVER);
    expect(outcome).toMatchObject({
      delivered: false,
      statusCode: null,
      error: "Connection reset by the server",
      permanent: false,
    });
    const { url, receiver } = await receive(hanging);
    const stop = new AbortController();
    const pending = send({ kind, settings: service.settings(url) }, MESSAGE, CONTEXT, stop.signal);
    await receiver.waitFor(1);
    stop.abort();
    expect(await pending).toMatchObject({ delivered: false, statusCode: null });
  });

  it("is refused by the guard, which says what opens it", async () => {
    const { url, receiver } = await receive(asService(service));
    const outcome = await sender([])({ kind, settings: service.settings(url) }, MESSAGE, CONTEXT, NEVER);
    expect(outcome).toMatchObject({ delivered: false, statusCode: null, permanent: true });
    expect(outcome).toMatchObject({
      error: expect.stringContaining(`SONDE_ALLOW_NETS=127.0.0.1:${receiver.port} opens it`),
    });
    expect(receiver.received).toHaveLength(0);
  });
});

describe("what follows a first message", () => {
  const service = (kind: string): Service => {
    const found = SERVICES.find((each) => each.kind === kind);
    if (found === undefined) throw new Error(kind);
    return found;
  };
  const recovered: Message = {
    ...MESSAGE,
    reason: "recovered",
    severity: "ok",
    title: "Berlin 3 works again",
    acknowledge: null,
  };

  it("is one transaction of Matrix for one notification, and an answer to the first", async () => {
    const { url, receiver } = await receive(asService(service("matrix")));
    const settings = service("matrix").settings(url);
    for (let round = 0; round < 2; round += 1) await send({ kind: "matrix", settings }, MESSAGE, CONTEXT, NEVER);
    const context = { ...CONTEXT, notificationId: "42", previous: "$event:test-site.org" };
    await send({ kind: "matrix", settings }, recovered, context, NEVER);
    const [first, again, third] = receiver.received;
    expect(again?.path).toBe(first?.path);
    expect(third?.path).not.toBe(first?.path);
    expect(JSON.parse(third?.body ?? "")["m.relates_to"]).toEqual({
      "m.in_reply_to": { event_id: "$event:test-site.org" },
    });
  });

  it("replies to the first message of Telegram", async () => {
    const { url, receiver } = await receive(asService(service("telegram")));
    const channel = { kind: "telegram", settings: service("telegram").settings(url) };
    await send(channel, recovered, { ...CONTEXT, previous: "77" }, NEVER);
    await send(channel, recovered, { ...CONTEXT, previous: "not one of Telegram" }, NEVER);
    const replies = receiver.received.map(({ body }) => JSON.parse(body).reply_parameters);
    expect(replies).toEqual([{ message_id: 77, allow_sending_without_reply: true }, undefined]);
  });

  it("resolves an incident of PagerDuty under the same key", async () => {
    const { url, receiver } = await receive(asService(service("pagerduty")));
    const settings = service("pagerduty").settings(url);
    // After quiet hours: what came and went opens nothing that no message would end.
    const digests = (["critical", "info"] as const).map((severity) => ({
      ...MESSAGE,
      reason: "digest" as const,
      severity,
    }));
    for (const message of [MESSAGE, { ...MESSAGE, reason: "acknowledged" as const }, recovered, ...digests]) {
      await send({ kind: "pagerduty", settings }, message, CONTEXT, NEVER);
    }
    const events = receiver.received.map(({ body }) => JSON.parse(body) as { event_action: string; dedup_key: string });
    expect(events.map(({ event_action }) => event_action)).toEqual([
      ...["trigger", "acknowledge", "resolve", "trigger", "resolve"],
    ]);
    expect(new Set(events.map(({ dedup_key }) => dedup_key))).toEqual(new Set(["rule 1 host a"]));
  });

  it("ends what Pushover repeats", async () => {
    const { url, receiver } = await receive(asService(service("pushover")));
    const settings = service("pushover").settings(url);
    const receipt = "r".repeat(30);
    await send({ kind: "pushover", settings }, recovered, { ...CONTEXT, previous: receipt }, NEVER);
    expect(receiver.received.map(({ path }) => path)).toEqual([
      "/1/messages.json",
      `/1/receipts/${receipt}/cancel.json`,
    ]);
  });

  it("ends with its deadline, however many requests a message takes", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const paths: string[] = [];
    const exchange: Attempts["exchange"] = ({ url }, _caller, signal) =>
      new Promise((settle) => {
        paths.push(new URL(url).pathname);
        const answer = { status: 200, headers: {}, text: '{"status":1}' };
        if (paths.length === 1) setTimeout(() => settle({ answer, fault: null }), 14_000);
        const fault = { error: "no answer", isRefused: false, openedBy: null };
        signal.addEventListener("abort", () => settle({ answer: null, fault }));
      });
    const attempts = { ...attemptsHere(ENGINE), exchange };
    const clocks = { monotonicNowMs: () => Date.now() };
    const sending = createSendToChannel({ attempts, mail: { smtpUrl: null, from: null }, version: "test", clocks });
    const settings = service("pushover").settings("http://127.0.0.1:1");
    const outcome = sending({ kind: "pushover", settings }, recovered, { ...CONTEXT, previous: "r".repeat(30) }, NEVER);
    await vi.advanceTimersByTimeAsync(ATTEMPT_MS);
    expect(paths).toHaveLength(2);
    expect(await outcome).toMatchObject({ delivered: true, durationMs: ATTEMPT_MS });
  });
});

describe("a channel that cannot be sent to", () => {
  it("says why, and never rejects", async () => {
    const outcomes = await Promise.all([
      send({ kind: "carrier pigeon", settings: {} }, MESSAGE, CONTEXT, NEVER),
      send({ kind: "ntfy", settings: { topic: 5 } }, MESSAGE, CONTEXT, NEVER),
      send({ kind: "email", settings: { to: ["ada@test-site.org"] } }, MESSAGE, CONTEXT, NEVER),
      send(
        { kind: "custom", settings: { url: "http://127.0.0.1:1/", body: "{% for a in (1..99999999) %}x{% endfor %}" } },
        MESSAGE,
        CONTEXT,
        NEVER,
      ),
    ]);
    expect(outcomes.map((outcome) => (outcome.delivered ? null : outcome.error))).toEqual([
      "there is no kind of channel carrier pigeon",
      "its settings cannot be used",
      "this service has no mail server: set SONDE_SMTP_URL and SONDE_MAIL_FROM, or give the channel its own smtp_url",
      expect.stringContaining("the template memory alloc limit exceeded"),
    ]);
    expect(outcomes.every((outcome) => !outcome.delivered && outcome.permanent)).toBe(true);
  });

  it("ends where interim answers have no end", async () => {
    const { url } = await receive((_received, response) => {
      const piece = "HTTP/1.1 102 Processing\r\n\r\n".repeat(2_000);
      const more = (): void => {
        while (response.socket?.destroyed === false && response.socket.write(piece));
      };
      response.socket?.on("drain", more);
      more();
    });
    expect(await send({ kind: "custom", settings: { url } }, MESSAGE, CONTEXT, NEVER)).toMatchObject({
      delivered: false,
      error: "The server sends interim answers without end",
    });
  });

  it("shows no secret, though a template turns it round", async () => {
    const { url } = await receive(answering(400));
    const settings = {
      url,
      body: "{{ secret.token | split: '' | join: '-' }} {{ secret.token | base64_encode }} {{ secret.token }}",
      secrets: { token: "secretsecret" },
    };
    const { sent } = await send({ kind: "custom", settings }, MESSAGE, CONTEXT, NEVER);
    expect(sent).toContain("*");
    expect(sent).not.toMatch(/s-e-c|c2VjcmV0|secretsecret/);
  });
});
