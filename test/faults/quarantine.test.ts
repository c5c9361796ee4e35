/**
 * A configuration that makes a prober hang in native code, against whole processes: it takes one prober, once, and the process goes on with
 * everything else; after restarts, for a monitor that is made again, on demand and at other checkers it is not run.
 */
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { admin } from "../admin.ts";
import { clientOf } from "../client.ts";
import { type Gate, openGate } from "../gate.ts";
import { createMonitor, type Product, startProduct, untilMonitor, untilStatus } from "../product.ts";
import { installation } from "../roles.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startShared } from "../servers/shared.ts";
import { cleanUp, eventually } from "../service.ts";
import { startTcp } from "../targets.ts";

const PRELOAD = fileURLToPath(new URL("../fixtures/hang-on-connect.mjs", import.meta.url));
const REFUSED = /quarantined until .*hangs in native code/;

const shared = await startShared();
const gates: Gate[] = [];
const undo: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const gate of gates) gate.release();
  for (const close of undo) await close();
  await cleanUp();
  for (const gate of gates) gate.close();
  if (!isMissing(shared)) await shared.stop();
});

interface Results {
  readonly total: number;
  readonly results: readonly { readonly status: string; readonly error_message: string | null }[];
}
interface Quarantine {
  readonly configs: readonly {
    readonly id: number;
    readonly monitor: string | null;
    readonly kind: string;
    readonly held: boolean;
    readonly strikes: number;
  }[];
}

async function trap() {
  const gate = openGate(temporaryFolder());
  gates.push(gate);
  const port = await freePort();
  const env = {
    NODE_OPTIONS: `--import=${PRELOAD}`,
    SONDE_TEST_HANG_PORT: String(port),
    SONDE_TEST_HANG_GATE: gate.path,
    SONDE_WORKERS: "2",
    SONDE_PUBLIC_ALLOW_NETS: "127.0.0.0/8",
  };
  const config = { protocol: "openconnect", host: "127.0.0.1", port, username: "ada", password: "pw", timeout: 10 };
  return { gate, env, config };
}

const rows = async ({ api }: Pick<Product, "api">, id: string) =>
  (await api.get<Results>(`/results/server/${id}?limit=100`)).body;

describe("sonde up", () => {
  it("loses one prober to a hostile configuration, once: not after restarts, not made again, not on demand", async () => {
    const { gate, env, config } = await trap();
    const target = await startTcp();
    undo.push(() => target.close());
    let product = await startProduct({ env });
    const { dataDir, port, pid } = product;
    const port1 = { type: "port", name: "P", host: "127.0.0.1", port: target.port, interval: 1 };
    const ordinary = await createMonitor(product.api, port1);
    await untilStatus(product.api, ordinary, "healthy");
    let hostile = await createMonitor(product.api, { ...config, name: "H", interval: 1 });
    const told = await eventually(async () => (await rows(product, hostile)).results[0], 40_000);
    expect(told.error_message).toMatch(REFUSED);
    // It still hangs, and the process goes on with the ordinary one.
    const { total } = await rows(product, ordinary);
    await eventually(async () => ((await rows(product, ordinary)).total > total + 3 ? true : undefined));
    const metrics = await (await fetch(`${product.url}/metrics`)).text();
    expect(metrics).toMatch(/^sonde_probers_hung 1$/m);
    expect(metrics).toMatch(/^sonde_configs_quarantined 1$/m);
    expect([product.child.exitCode, product.child.pid]).toEqual([null, pid]);

    for (let restart = 0; restart < 3; restart++) {
      // The thread still hangs when it is told to stop.
      expect(await product.stop()).toBe(0);
      product = await startProduct({ env, dataDir, port });
      const before = (await rows(product, hostile)).total;
      await eventually(async () => ((await rows(product, hostile)).total > before + 2 ? true : undefined));
      expect((await rows(product, hostile)).results[0]?.error_message).toMatch(REFUSED);
    }
    expect((await product.api.remove(`/servers/${hostile}`)).status).toBe(200);
    hostile = await createMonitor(product.api, { ...config, name: "H again", interval: 1 });
    await eventually(async () => ((await rows(product, hostile)).total > 2 ? true : undefined));
    const check = await product.api.post<{ error_message: string }>("/check", config);
    expect([check.status, check.body.error_message]).toEqual([200, expect.stringMatching(REFUSED)]);
    const open = await fetch(`${product.url}/api/v1/check/public`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(config),
    });
    expect([open.status, await open.text()]).toEqual([200, expect.stringMatching(/could not run this check/)]);
    expect((await product.api.post("/test", { server_id: hostile })).status).toBe(200);
    expect(gate.hits()).toEqual([pid]);

    const { configs } = await admin<Quarantine>({ dataDir }, {}, "quarantine", "list");
    expect(configs).toMatchObject([{ kind: "openconnect", held: true, strikes: 1 }]);
    gate.release();
    await admin({ dataDir }, {}, "quarantine", "lift", String(configs[0]?.id));
    // No server listens there: it is a plain failure again.
    await untilMonitor(product.api, hostile, ({ status }) => status === "down", 40_000);
    expect((await admin<Quarantine>({ dataDir }, {}, "quarantine", "list")).configs).toEqual([]);
    expect(await product.stop()).toBe(0);
  }, 240_000);
});

withServer("quarantine on roles apart", shared, ({ stores }) => {
  describe("checkers of their own", () => {
    it("what hung one checker is not given to the other, whether a monitor or a one-off check did it", async () => {
      const { gate, env, config } = await trap();
      const all = installation(await stores());
      const first = await all.startApi();
      const api = clientOf(first.url, first.firstKey ?? "");
      await all.startScheduler();
      const checkers = await Promise.all([
        all.startChecker("any", { env, args: ["--name", "one"] }),
        all.startChecker("any", { env, args: ["--name", "two"] }),
      ]);
      await eventually(async () => {
        const { body } = await api.get<{ regions: { healthy_checkers: number }[] }>("/regions");
        return body.regions[0]?.healthy_checkers === 2 ? true : undefined;
      });
      const pids = checkers.map(({ child }) => child.pid);
      const hostile = await createMonitor(api, { ...config, name: "H", interval: 1 });
      await eventually(async () => ((await rows({ api }, hostile)).total > 3 ? true : undefined), 60_000);
      expect((await rows({ api }, hostile)).results[0]?.error_message).toMatch(REFUSED);
      expect(gate.hits()).toHaveLength(1);
      expect(pids).toContain(gate.hits()[0]);
      expect((await api.post<{ error_message: string }>("/check", config)).body.error_message).toMatch(REFUSED);

      // Another one, which comes as a one-off check first.
      const passing = { ...config, username: "eve" };
      expect((await api.post<{ error_message: string }>("/check", passing)).body.error_message).toMatch(REFUSED);
      expect(gate.hits()).toHaveLength(2);
      expect((await api.post<{ error_message: string }>("/check", passing)).body.error_message).toMatch(REFUSED);
      const second = await createMonitor(api, { ...passing, name: "E", interval: 1 });
      await eventually(async () => ((await rows({ api }, second)).total > 2 ? true : undefined), 30_000);
      expect((await rows({ api }, second)).results[0]?.error_message).toMatch(REFUSED);
      expect(gate.hits()).toHaveLength(2);
      const { configs } = await all.admin<Quarantine>("quarantine", "list");
      expect(configs.map(({ monitor, held }) => [monitor, held])).toEqual([
        [null, true],
        [hostile, true],
      ]);
      for (const { child } of checkers) expect(child.exitCode).toBeNull();
    }, 180_000);
  });
});
