/** A running API on a real SQLite file, with a clock that stands still, and a client that checks every answer against the document's schemas. */
import { mkdtempSync, rmSync } from "node:fs";
import { type Agent, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiConfig, ApiDependencies } from "../../api/api.ts";
import { type RunningApi, type StartOptions, startApi } from "../../api/start.ts";
import { overridePlans } from "../../model/plan.ts";
import { linkLists } from "../../roles/link-lists.ts";
import { attemptsHere } from "../../scheduler/alerts/attempts/attempts.ts";
import { createSendToChannel } from "../../scheduler/alerts/channels/send.ts";
import { SYSTEM_CLOCKS } from "../../scheduler/clock.ts";
import { hashKey } from "../../store/key-text.ts";
import type { Sealing } from "../../store/sealed-text.ts";
import { openSealing } from "../../store/sealing/sealing.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { Sqlite } from "../../store/sqlite-library.ts";
import { openInProcess } from "../../store/state/in-process.ts";
import { makeMigratedFile } from "../store/migrated-file.ts";
import { checkAgainstDocument } from "./contract.suite.ts";
import { type MemoryResults, memoryResults, type WatchedState, watchState } from "./memory.suite.ts";

export const START_MS = Date.UTC(2026, 10, 21, 6, 10, 5, 250);

const PROBERS = {
  publicAllowNets: [],
  ownEndpoints: [],
  resolvers: [],
  extraCaPem: null,
  rdapBootstrapUrl: null,
  canaries: null,
};

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}
export interface Send {
  readonly key?: string | null;
  readonly project?: string | null;
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whose connection it takes; one of its own when absent. */
  readonly agent?: Agent;
}
export interface World {
  readonly api: RunningApi;
  readonly controlPlane: ControlPlane;
  readonly sealing: Sealing;
  readonly state: WatchedState;
  readonly results: MemoryResults;
  readonly clock: { nowMs: number };
  readonly log: string[];
  readonly health: { database: () => Promise<void>; queue: () => Promise<void> };
  readonly condition: { text: string | null };
  readonly key: string;
  readonly keyId: number;
  readonly userId: number;
  readonly organizationId: number;
  readonly projectId: number;
  send(method: string, path: string, send?: Send): Promise<Answer>;
  /** Changes what only the operator's command changes, and raises the generation as it does. */
  sql(text: string, ...values: (string | number | null)[]): number;
  newKey(of: {
    userId: number;
    organizationId: number | null;
    expiresAtMs?: number | null;
    prefix?: string;
  }): Promise<string>;
  close(): Promise<void>;
}

export async function openWorld(
  server: "net" | "node",
  config: Partial<ApiConfig> = {},
  options: StartOptions = {},
  more: Partial<ApiDependencies> = {},
): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "sonde-api-"));
  const file = join(folder, "control.sqlite");
  await makeMigratedFile(file);
  const controlPlane = await openControlPlane({ file }, { role: "api" });
  const raw = new Sqlite(file);
  const clock = { nowMs: START_MS };
  const first = await controlPlane.accounts.createFirst({
    email: "ada@test-site.org",
    userName: "Ada Byron",
    workspaceName: "Acme",
    plan: "business",
    projectName: "Production",
    nowMs: clock.nowMs,
  });
  const sealing = openSealing({ keyFile: join(folder, "sealing.key"), createIfMissing: true });
  const state = watchState(await openInProcess({ file: join(folder, "counters.sqlite") }, () => clock.nowMs));
  const results = memoryResults();
  const log: string[] = [];
  const health = { database: () => controlPlane.ping(), queue: () => state.ping() };
  const condition: { text: string | null } = { text: null };
  const write = (fields: object, message: string): void =>
    void log.push(JSON.stringify({ ...fields, message }, errorsToo));
  const dependencies: ApiDependencies = {
    config: {
      host: "127.0.0.1",
      port: 0,
      baseUrl: null,
      docsUrl: null,
      metricsToken: null,
      trustedProxies: [],
      plans: overridePlans({ business: { requestsPerMinute: null, requestsPerDay: null, requestsPerMonth: null } }),
      httpServer: server,
      allowNets: [],
      publicAllowNets: [],
      ownEndpoints: [],
      ...config,
    },
    controlPlane,
    state,
    checks: { ask: async () => ({ type: "untaken" }), close: async () => {} },
    results,
    sealing,
    clock: { now: () => clock.nowMs },
    log: { debug: write, info: write, warn: write, error: write, isLevelEnabled: () => true },
    version: "0.1.0",
    health: { database: () => health.database(), queue: () => health.queue() },
    metrics: async () => "sonde_up 1\n",
    regions: async () => [
      { code: "nl", healthyCheckers: 0 },
      { code: "de", healthyCheckers: 3 },
      { code: "any", healthyCheckers: 9 },
    ],
    storeCondition: () => condition.text,
    sendToChannel: createSendToChannel({
      attempts: attemptsHere({ ...PROBERS, allowNets: ["127.0.0.0/8"] }),
      mail: { smtpUrl: null, from: null },
      version: "0.1.0",
      clocks: SYSTEM_CLOCKS,
    }),
    linkLists: linkLists({ ...PROBERS, allowNets: ["127.0.0.0/8"] }),
    resolve: async (name) => (name === "inside.test-site.org" ? ["10.0.0.7"] : []),
    ...more,
  };
  const api = await startApi(dependencies, options);

  async function newKey(of: Parameters<World["newKey"]>[0]): Promise<string> {
    let key = "";
    await controlPlane.keys.create({
      name: "test",
      kind: of.organizationId === null ? "account" : "workspace",
      userId: of.userId,
      organizationId: of.organizationId,
      expiresAtMs: of.expiresAtMs ?? null,
      nowMs: clock.nowMs,
      secretHash: (id) => {
        key = `${of.prefix ?? "uk"}${id}_${"s".repeat(39)}${id % 10}`;
        return hashKey(key);
      },
    });
    return key;
  }

  const key = await newKey({ userId: first.userId, organizationId: first.organizationId });
  return {
    api,
    controlPlane,
    sealing,
    state,
    results,
    clock,
    log,
    health,
    condition,
    key,
    keyId: Number(/^uk(\d+)_/.exec(key)?.[1]),
    ...first,
    newKey,
    async send(method, path, send = {}) {
      const answer = await call(
        api.port,
        method,
        path,
        {
          ...(send.key === null ? {} : { "x-api-key": send.key ?? key }),
          ...(send.project === null ? {} : { "x-project-id": send.project ?? `prj_${first.projectId}` }),
          ...send.headers,
        },
        send.raw ?? (send.body === undefined ? undefined : JSON.stringify(send.body)),
        send.agent,
      );
      checkAgainstDocument({ method, path, ...answer });
      return answer;
    },
    sql(text, ...values) {
      const { lastInsertRowid } = raw.prepare(text).run(...values);
      raw.prepare("update generation set value = value + 1").run();
      return Number(lastInsertRowid);
    },
    async close() {
      await api.close();
      await state.close();
      await controlPlane.close();
      raw.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function errorsToo(_: string, value: unknown): unknown {
  return value instanceof Error ? (value.stack ?? value.message) : value;
}

export function call(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string | Uint8Array,
  agent: Agent | false = false,
): Promise<Answer> {
  return new Promise((settle, fail) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const sent = httpRequest(
      { host: "127.0.0.1", port, method, path, headers: { ...headers, ...length }, agent },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", fail);
        const answer = (): void => {
          const text = Buffer.concat(chunks).toString();
          const isJson = incoming.headers["content-type"] === "application/json" && text !== "";
          settle({
            status: incoming.statusCode ?? 0,
            headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
            text,
            body: isJson ? JSON.parse(text) : undefined,
          });
        };
        incoming.on("end", answer);
        // A stream goes on: what it says first is its answer.
        if (incoming.headers["content-type"] === "text/event-stream") {
          incoming.once("data", () => {
            answer();
            incoming.destroy();
          });
        }
      },
    );
    sent.on("error", fail);
    sent.end(body);
  });
}
