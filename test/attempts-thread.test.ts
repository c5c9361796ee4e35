/** The thread that makes attempts of webhooks and channels, of the built files. */
import { readdirSync } from "node:fs";
import { createServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { listen } from "../demo/loopback.ts";
import { oddNumber, rsaPublic } from "../engine/protocols/keys/hostile-keys.suite.ts";
import { createThreadCpuTime } from "../native/cpu-time.ts";
import { type Attempts, attemptsHere } from "../scheduler/alerts/attempts/attempts.ts";
import type * as Start from "../scheduler/alerts/attempts/start.ts";
import { answering, openReceiver } from "../scheduler/webhooks/receivers.suite.ts";
import { chain } from "./hostile-chain.ts";

const { AttemptsThread } = (await import(
  new URL("../dist/scheduler/alerts/attempts/start.js", import.meta.url).href
)) as typeof Start;

const ENGINE = {
  ...{ allowNets: ["127.0.0.0/8"], publicAllowNets: [], ownEndpoints: [], resolvers: [] },
  ...{ extraCaPem: null, rdapBootstrapUrl: null, canaries: null },
};
const NEVER = new AbortController().signal;
const LETTER = {
  ...{ subject: "web is down", text: "web is down", html: "<p>web is down</p>", messageId: "<1@test-site.org>" },
  ...{ references: "<1@test-site.org>", from: { name: "Sonde", address: "sonde@test-site.org" } },
  ...{ to: ["ada@test-site.org"], cc: [], left: null },
};

function started(options: Partial<Start.AttemptsThreadOptions> = {}) {
  const errors: unknown[] = [];
  const log = { error: (what: unknown) => void errors.push(what) } as Start.AttemptsThreadOptions["log"];
  const thread = new AttemptsThread({ engine: ENGINE, log, ...options });
  onTestFinished(() => thread.close());
  return { thread, errors };
}

const post = ({ exchange }: Attempts, url: string, signal = NEVER, projectId = 1) =>
  exchange(
    { method: "POST", url, headers: { "x-a": "b" }, body: "{}" },
    { userAgent: "Sonde/test", projectId },
    signal,
  );

/** It takes connections, and says nothing. */
async function silentServer(): Promise<number> {
  const server = createServer((socket) => void socket.on("error", () => {}));
  onTestFinished(() => void server.close());
  return listen(server);
}

it("ends each attempt as it ends on this thread", async () => {
  const { thread } = started();
  const here = attemptsHere(ENGINE);
  const taken = await openReceiver();
  const refused = await openReceiver(answering(410));
  onTestFinished(() => taken.close());
  onTestFinished(() => refused.close());
  for (const url of [taken.url, refused.url]) {
    const [one, other] = [await post(thread, url), await post(here, url)];
    expect(one.answer?.status).toBe(other.answer?.status);
    expect(one.answer?.status).toBe(url === taken.url ? 204 : 410);
  }
  expect(taken.received.map(({ headers }) => headers["user-agent"])).toEqual(["Sonde/test", "Sonde/test"]);
  expect(await post(thread, "http://10.0.0.1/")).toEqual(await post(here, "http://10.0.0.1/"));
  const nothing = { host: "127.0.0.1", port: 1, isTls: false, user: null, password: "" };
  expect(await thread.mail(nothing, LETTER, 1, NEVER)).toEqual(await here.mail(nothing, LETTER, 1, NEVER));
});

it("ends an attempt that is aborted, and one whose thread takes too long", async () => {
  const port = await silentServer();
  const url = `http://127.0.0.1:${port}/`;
  const aborting = new AbortController();
  const aborted = post(started({ graceMs: 60_000 }).thread, url, aborting.signal);
  aborting.abort();
  expect((await aborted).fault?.error).toMatch(/^no answer within/);
  const busy = { isRefused: false, error: expect.stringContaining("could not be sent in time") };
  // The thread takes longer to start than these give it.
  expect((await post(started({ withinMs: 1, graceMs: 1 }).thread, url)).fault).toMatchObject(busy);
  expect((await post(started({ graceMs: 1 }).thread, url, AbortSignal.abort())).fault).toMatchObject(busy);
});

it("fails what is under way when the thread dies, and what comes once it is closed", async () => {
  const { thread, errors } = started({ engine: null as never });
  expect((await post(thread, "http://127.0.0.1:1/")).fault?.error).toBe("the thread that sends messages has died");
  expect(errors).toHaveLength(1);
  const other = started();
  const port = await silentServer();
  const underWay = post(other.thread, `http://127.0.0.1:${port}/`);
  await other.thread.close();
  expect((await underWay).fault?.error).toBe("the service stops");
  expect((await post(other.thread, `http://127.0.0.1:${port}/`)).fault?.error).toBe("the service stops");
});

it("starts again after a rest", async () => {
  const { thread } = started({ idleMs: 1 });
  const threads = (): number => readdirSync("/proc/self/task").length;
  const receiver = await openReceiver();
  onTestFinished(() => receiver.close());
  const before = threads();
  for (let round = 0; round < 2; round += 1) {
    expect((await post(thread, receiver.url)).answer?.status).toBe(204);
    await expect.poll(threads).toBe(before);
  }
});

/** Its certificates cost OpenSSL so much that a handshake takes some 10 ms for each of them. */
async function costlyServer(count: number): Promise<string> {
  const options = chain(count, () => rsaPublic(3_072, oddNumber(3_064)), "rsa", 3_072);
  const server = createTlsServer(options, (socket) => void socket.on("error", () => {}));
  server.on("tlsClientError", () => {});
  onTestFinished(() => void server.close());
  return `https://127.0.0.1:${await listen(server)}/`;
}

it("keeps the caller's thread free of what a receiver's certificates cost", async () => {
  const url = await costlyServer(20);
  const cpuMs = createThreadCpuTime();
  const spent = async (attempts: Attempts): Promise<number> => {
    const before = cpuMs();
    expect((await post(attempts, url)).answer).toBeNull();
    return cpuMs() - before;
  };
  const { thread } = started();
  await spent(thread);
  const there = await spent(thread);
  expect(there).toBeLessThan((await spent(attemptsHere(ENGINE))) / 2);
});

it("reads no more of a handshake than real ones have", async () => {
  const { fault } = await post(started().thread, await costlyServer(60));
  expect(fault?.error).toMatch(/^The server sends more than \d+ bytes before TLS is there$/);
});

it("lets one project's costly receivers delay another's message by little", async () => {
  const [costly, other] = [await costlyServer(20), await costlyServer(0)];
  const { thread } = started();
  const ended: number[] = [];
  const all = [...Array<number>(20).fill(1), 2].map(async (project) => {
    await post(thread, project === 1 ? costly : other, new AbortController().signal, project);
    ended.push(project);
  });
  await Promise.all(all);
  expect(ended.indexOf(2)).toBeLessThan(10);
});
