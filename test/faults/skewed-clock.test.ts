/**
 * Roles apart of which one has a wrong clock: nothing is called down by it, no row is of the future, and the operator is told within seconds. The clock is
 * moved inside the process alone, in all its threads.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { clientOf, type TestClient } from "../client.ts";
import { createMonitor, productEnv, untilStatus } from "../product.ts";
import { type Installation, installation, type Role } from "../roles.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startShared } from "../servers/shared.ts";
import { cleanUp, eventually, type RunningService, type ServiceSettings } from "../service.ts";
import { startTcp } from "../targets.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const SKEW = `const { now } = Date;
const Plain = Date;
globalThis.Date = class extends Plain {
  constructor(...parts) { super(...(parts.length === 0 ? [Plain.now() + BY] : parts)); }
  static now() { return now.call(Plain) + BY; }
};`;

/** A process whose clock is ahead by so much. */
function ahead(ms: number): ServiceSettings {
  const file = join(temporaryFolder(), "skew.cjs");
  writeFileSync(file, `const BY = ${ms};\n${SKEW}`);
  return { command: [process.execPath, "--require", file] };
}

interface Rows {
  readonly results: readonly { readonly tested_at: string; readonly status: string }[];
}

interface Clocks {
  readonly api?: number;
  readonly scheduler?: number;
  readonly checker?: number;
}

const shared = await startShared();
afterAll(async () => {
  await cleanUp();
  if (!isMissing(shared)) await shared.stop();
});

withServer("PostgreSQL and Redis", shared, (servers) => {
  let running: (Role | RunningService)[] = [];
  afterEach(async () => {
    for (const one of running.reverse()) await one.stop();
    running = [];
  });

  async function start({ api = 0, scheduler = 0, checker = 0 }: Clocks) {
    const whole: Installation = installation(await servers.stores(), productEnv());
    const service = await whole.startApi(ahead(api));
    running.push(service);
    const checks = await whole.startChecker("any", { ...ahead(checker), args: ["--metrics", "0"] });
    const schedules = await whole.startScheduler({ ...ahead(scheduler), args: ["--metrics", "0"] });
    running.push(checks, schedules);
    return { service, checks, schedules, client: clientOf(service.url, service.firstKey ?? "") };
  }

  async function heartbeat(client: TestClient): Promise<{ readonly id: string; call(): Promise<void> }> {
    const id = await createMonitor(client, { type: "push", name: "Job", period: 60 });
    const { body } = await client.get<{ heartbeat_url: string }>(`/servers/${id}`);
    return {
      id,
      async call() {
        expect((await fetch(body.heartbeat_url)).status).toBe(200);
      },
    };
  }

  /** The newest row of a monitor that is checked is of now, and so is its heartbeat's, whose state stays. */
  async function staysRight(client: TestClient): Promise<void> {
    const target = await startTcp();
    try {
      const tcp = await createMonitor(client, {
        type: "port",
        name: "Port",
        host: "127.0.0.1",
        port: target.port,
        interval: 1,
      });
      const job = await heartbeat(client);
      await job.call();
      await untilStatus(client, job.id, "healthy");
      await untilStatus(client, tcp, "healthy");
      const seen = await eventually(async () => {
        const { body } = await client.get<Rows>(`/results/server/${tcp}`);
        return body.results.length >= 5 ? body.results : undefined;
      });
      for (const { tested_at } of seen) expect(Math.abs(Date.parse(tested_at) - Date.now())).toBeLessThan(MINUTE_MS);
      const { body } = await client.get<Rows>(`/results/server/${job.id}`);
      expect(body.results.map(({ status }) => status)).toEqual(["healthy"]);
      await untilStatus(client, job.id, "healthy");
    } finally {
      await target.close();
    }
  }

  async function warns({ url }: RunningService): Promise<void> {
    await eventually(async () => {
      const answer = await fetch(`${url}/api/v1/health/deep`);
      const body = (await answer.json()) as { readonly warnings?: readonly string[] };
      return body.warnings?.includes("clock_off") || undefined;
    });
  }

  for (const [words, ms] of [
    ["an hour ahead", HOUR_MS],
    ["an hour behind", -HOUR_MS],
  ] as const) {
    it(`a scheduler ${words} judges and plans by the common time, and says so`, async () => {
      const { client, service, schedules } = await start({ scheduler: ms });
      await staysRight(client);
      await warns(service);
      expect(schedules.output()).toContain(`this machine's clock is 3600 s ${ms > 0 ? "ahead of" : "behind"}`);
    }, 120_000);
  }

  for (const [words, ms] of [
    ["five minutes ahead", 5 * MINUTE_MS],
    ["five minutes behind", -5 * MINUTE_MS],
  ] as const) {
    it(`an API ${words} takes calls of heartbeats at their time, and says so`, async () => {
      const { client, service } = await start({ api: ms });
      await staysRight(client);
      await warns(service);
      expect(service.output()).toContain(`this machine's clock is 300 s ${ms > 0 ? "ahead of" : "behind"}`);
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      expect(metrics).toMatch(
        new RegExp(`sonde_clock_offset_seconds\\{store="postgresql"\\} ${ms > 0 ? "" : "-"}(300|299)`),
      );
    }, 120_000);
  }

  it("a checker ten minutes ahead gets no runs, and says why", async () => {
    const { checks } = await start({ checker: 10 * MINUTE_MS });
    const port = /metrics on port (\d+)/.exec(checks.output())?.[1];
    await eventually(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/health`);
      const text = await answer.text();
      return (answer.status === 503 && /clock is 600 s ahead/.test(text)) || undefined;
    });
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toContain("sonde_checker_fit 0");
  }, 120_000);
});
