import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createTransport } from "../../engine/transport/index.ts";
import type { Resolver } from "../../engine/transport/resolver.ts";
import { newWebhookSecret, webhookKey } from "../../store/webhook-secret.ts";
import { attemptsOver } from "../alerts/attempts/attempts.ts";
import { headersOf } from "../signed-message.ts";
import { ATTEMPT_MS, createPost, type Post } from "./post.ts";
import { answering, endless, hanging, openReceiver, type Receiver, type Temper } from "./receivers.suite.ts";

const ENGINE = {
  allowNets: ["127.0.0.0/8"],
  publicAllowNets: [],
  ownEndpoints: [],
  resolvers: [],
  extraCaPem: null,
  rdapBootstrapUrl: null,
  canaries: null,
};
const BODY = JSON.stringify({ type: "webhook.test", timestamp: "2026-11-21T06:10:00.000Z", data: { name: "Größe" } });
const NEVER = new AbortController().signal;

const receivers: Receiver[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const receiver of receivers.splice(0)) await receiver.close();
});

async function receiver(temper?: Temper): Promise<Receiver> {
  const opened = await openReceiver(temper);
  receivers.push(opened);
  return opened;
}

function poster(engine: Partial<typeof ENGINE> = {}, resolver?: Resolver): Post {
  const deps = resolver === undefined ? {} : { resolver };
  return createPost(attemptsOver(createTransport({ ...ENGINE, ...engine }, deps)), "Sonde/test (webhook)");
}

/** Names it is asked for, answered by the test. */
function resolverOf(answer: () => string): Resolver {
  return { lookup: (_name, _isAbsolute, family) => ({ addresses: [{ ip: answer(), family }], fault: null }) };
}

describe("a message", () => {
  it("is taken by the standardwebhooks package, with either secret during a change", async () => {
    const to = await receiver();
    const secrets = [newWebhookSecret(), newWebhookSecret()];
    const keys = secrets.map(webhookKey);
    expect(keys.map((key) => key.length)).toEqual([32, 32]);
    const headers = headersOf({ id: "msg_1", body: BODY, keys }, Date.now());
    expect(await poster()(to.url, headers, BODY, 1, NEVER)).toEqual({ statusCode: 204, error: null });
    const [got] = to.received;
    expect(got).toMatchObject({
      path: "/hook?a=1",
      body: BODY,
      headers: {
        "content-type": "application/json",
        "webhook-id": "msg_1",
        "user-agent": "Sonde/test (webhook)",
        host: `127.0.0.1:${to.port}`,
      },
    });
    for (const secret of secrets)
      expect(new Webhook(secret).verify(got?.body ?? "", got?.headers ?? {})).toEqual(JSON.parse(BODY));
    const other = new Webhook(newWebhookSecret());
    expect(() => other.verify(got?.body ?? "", got?.headers ?? {})).toThrow();
    expect(() => new Webhook(secrets[0] ?? "").verify(`${BODY} `, got?.headers ?? {})).toThrow();
  });
});

describe("post", () => {
  it.each([
    [200, null],
    [299, null],
    [301, "HTTP 301: redirects are not followed"],
    [400, "HTTP 400"],
    [410, "HTTP 410"],
    [500, "HTTP 500"],
  ])("takes %i for what it is", async (status, error) => {
    const elsewhere = await receiver();
    const to = await receiver(answering(status, { location: elsewhere.url }));
    expect(await poster()(to.url, {}, BODY, 1, NEVER)).toEqual({ statusCode: status, error });
    expect(elsewhere.received).toHaveLength(0);
  });

  it("throws an endless body away and keeps its status", async () => {
    const to = await receiver(endless);
    expect(await poster()(to.url, {}, BODY, 1, NEVER)).toEqual({ statusCode: 200, error: null });
  });

  it("waits no longer than its time for a receiver that hangs", async () => {
    const to = await receiver(hanging);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const outcome = poster()(to.url, {}, BODY, 1, NEVER);
    await to.waitFor(1);
    vi.advanceTimersByTime(ATTEMPT_MS);
    expect(await outcome).toEqual({ statusCode: null, error: "no answer within 15 s" });
  });

  it("says what a receiver did that did not answer", async () => {
    const cut = await receiver((_received, response) => response.socket?.destroy());
    expect(await poster()(cut.url, {}, BODY, 1, NEVER)).toEqual({
      statusCode: null,
      error: "Connection reset by the server",
    });
    const gone = await openReceiver();
    await gone.close();
    expect(await poster()(gone.url, {}, BODY, 1, NEVER)).toEqual({ statusCode: null, error: "Connection refused" });
  });

  it.each([
    ["garbage", "hello\r\n\r\n"],
    ["a switch of protocols", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nxyz"],
    ["a head without end", `HTTP/1.1 200 OK\r\n${"X-Long: 1\r\n".repeat(20_000)}`],
    ["a status that is none", "HTTP/1.1 2000 OK\r\n\r\n"],
    ["nothing", ""],
    ["half a head", "HTTP/1.1 200 OK\r\nContent-"],
  ])("survives %s", async (_name, answer) => {
    const to = await receiver((_received, response) => response.socket?.end(answer));
    const outcome = await poster()(to.url, {}, BODY, 1, NEVER);
    expect(outcome.statusCode === null || outcome.statusCode === 101).toBe(true);
    expect(outcome.error).not.toBeNull();
  });

  it("survives whatever bytes come back", async () => {
    let answer: Uint8Array = Buffer.alloc(0);
    const to = await receiver((_received, response) => response.socket?.end(answer));
    const line = fc.constantFrom(
      "HTTP/1.1 200 OK\r\n",
      "HTTP/1.1 500 x\r\n",
      "Content-Length: 5\r\n",
      "\r\n",
      "0\r\n",
      "a: b\r\n",
    );
    const noise = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
    const piece = fc.oneof(line, line, noise);
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        answer = Buffer.from(pieces.join(""), "latin1");
        const { error, statusCode } = await poster()(to.url, {}, BODY, 1, NEVER);
        expect(error === null).toBe(statusCode !== null && statusCode >= 200 && statusCode < 300);
      }),
      { numRuns: 200 },
    );
  });

  it("takes hints before the answer for hints, and a broken body for an answer", async () => {
    const hints = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n";
    const broken = "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\nbroken";
    const to = await receiver((_received, response) => response.socket?.end(hints + broken));
    expect(await poster()(to.url, {}, BODY, 1, NEVER)).toEqual({ statusCode: 202, error: null });
  });

  it("asks the guard at each dial about the address that is dialled", async () => {
    const to = await receiver();
    const refused = await poster({ allowNets: [] })(to.url, {}, BODY, 1, NEVER);
    expect(refused).toMatchObject({ statusCode: null, error: expect.stringContaining("127.0.0.1") });
    const own = await poster({ ownEndpoints: [`127.0.0.1:${to.port}`] as never })(to.url, {}, BODY, 1, NEVER);
    expect(own.statusCode).toBeNull();
    // The name was good when the webhook was made, and has moved.
    let address = "127.0.0.1";
    const moved = poster(
      { allowNets: ["127.0.0.1/32"] },
      resolverOf(() => address),
    );
    const url = `http://hooks.test-site.org:${to.port}/`;
    expect((await moved(url, {}, BODY, 1, NEVER)).statusCode).toBe(204);
    address = "127.0.0.2";
    expect(await moved(url, {}, BODY, 1, NEVER)).toMatchObject({
      statusCode: null,
      error: expect.stringContaining("127.0.0.2"),
    });
    address = "169.254.169.254";
    expect((await moved(url, {}, BODY, 1, NEVER)).statusCode).toBeNull();
    expect(to.received).toHaveLength(1);
  });

  it("ends at once when the sender stops", async () => {
    const to = await receiver(hanging);
    const stop = new AbortController();
    const outcome = poster()(to.url, {}, BODY, 1, stop.signal);
    await to.waitFor(1);
    stop.abort();
    expect((await outcome).statusCode).toBeNull();
  });
});
