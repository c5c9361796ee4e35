/** Managed cores at work, real ones: what they are started with, whom they stumble over, and what comes of it when they misbehave. */

import { chmodSync, copyFileSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { boundsHere } from "../../engine/cores/core-process.ts";
import type { OpenOutbound } from "../../engine/cores/outbound.ts";
import { connectOutbounds } from "../../engine/cores/outbound-port.ts";
import { findCore } from "../../engine/cores/program.ts";
import { DeadlinePassed, NetworkFault } from "../../engine/net/fault.ts";
import type { ProxyConfig } from "../../engine/protocols/share-link/proxy-config.ts";
import { parseProxyLink } from "../../engine/protocols/share-link/proxy-link.ts";
import type { Engine } from "../../model/subscription.ts";
import { holdHere } from "../../native/sandbox/confined.ts";
import { describeWith } from "../prerequisites.ts";
import { CORE_PLACES } from "./cores.ts";
import { type LinkRig, OTHER_UUID, openLinkRig, UUID } from "./link-rig.ts";

/** A check that nothing aborts. */
const never = (): void => {};

describeWith(["proxy cores"], "the cores' supervisor", () => {
  let rig: LinkRig;
  let port = 0;
  beforeAll(async () => {
    rig = await openLinkRig();
    [port = 0] = await rig.serve("singbox", [{ type: "vless", users: [{ uuid: UUID }] }]);
  });
  afterAll(() => rig.close());
  const others: LinkRig[] = [];
  afterEach(async () => {
    for (const other of others.splice(0)) await other.close();
  });

  const link = (uuid = UUID): string => `vless://${uuid}@127.0.0.1:${port}`;
  const good = (): ProxyConfig => parseProxyLink(link()).config;
  const open = (config: ProxyConfig, engine: Engine = "singbox", alone = false, workspace = 1): Promise<OpenOutbound> =>
    rig.outbounds.open({ config, address: "127.0.0.1", engine, alone, workspace }, never);
  const calm = () =>
    expect.poll(() => rig.supervisor.stats, { timeout: 20_000 }).toMatchObject({ running: 0, open: 0, waiting: 0 });
  /** Sends it to the core that is there when the first outbound of several checks is open. */
  function signalOnce(signal: NodeJS.Signals): () => void {
    let isSent = false;
    return () => {
      const [pid] = rig.supervisor.pids;
      if (isSent || pid === undefined) return;
      isSent = true;
      process.kill(pid, signal);
    };
  }
  const refusalOf = (asked: Promise<OpenOutbound>): Promise<string> =>
    asked.then(
      () => "opened",
      (fault: NetworkFault) => `${fault.verdict}: ${fault.message}`,
    );
  /** sing-box, behind a program of ours that does something before, or instead. */
  async function withProgram(script: string): Promise<LinkRig> {
    const path = join(rig.folder, `program-${others.length}-${Date.now()}`);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    // Scripts write into folders and start what lies elsewhere, which a core that is held may not.
    const bounds = boundsHere().filter((one) => !one.startsWith("held"));
    const other = await openLinkRig({ places: { ...CORE_PLACES, singbox: path }, bounds });
    others.push(other);
    return other;
  }
  it.each(["singbox", "xray"] as const)(
    "%s: hundreds at once share a few processes, and every one is ready when it is said to be",
    async (engine) => {
      const before = rig.supervisor.stats.started;
      const outcomes = await Promise.all(
        Array.from({ length: 300 }, () => rig.check(link(), { engine, timeoutMs: 20_000 })),
      );
      expect(outcomes.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
      expect(outcomes[0]?.tunnel).toMatchObject({ assignedIp: "127.0.0.1", engineUsed: engine, handshakeTimeMs: null });
      expect(rig.supervisor.stats.started - before).toBeLessThan(10);
      await calm();
    },
    60_000,
  );

  it("names the one that the core refuses, keeps it out for good, and serves the others", async () => {
    const bad: ProxyConfig = {
      ...good(),
      account: { protocol: "shadowsocks", method: "rot13-secret", password: "p", plugin: null, isUdpOverTcp: false },
    };
    const asked = Array.from({ length: 40 }, (_, index) => open(index === 17 ? bad : good()));
    const said = await Promise.all(asked.map(refusalOf));
    expect(said.filter((words) => words === "opened")).toHaveLength(39);
    expect(said[17]).toMatch(/^misconfigured: sing-box refuses the config: .*unknown method/);
    for (const outbound of await Promise.allSettled(asked)) if (outbound.status === "fulfilled") outbound.value.close();
    const { started, quarantined } = rig.supervisor.stats;
    expect(await refusalOf(open(bad))).toBe(said[17]);
    expect(rig.supervisor.stats).toMatchObject({ started, quarantined });
    expect(rig.told.join("\n")).not.toContain("rot13-secret");
  }, 60_000);

  it("finds by halves the one that the core does not name", async () => {
    // The one thing that ends xray's start without a tag: a key that is none.
    const bad: ProxyConfig = {
      ...good(),
      account: {
        protocol: "shadowsocks",
        method: "2022-blake3-aes-128-gcm",
        password: "not-a-key",
        plugin: null,
        isUdpOverTcp: false,
      },
    };
    const asked = Array.from({ length: 24 }, (_, index) => open(index === 5 ? bad : good(), "xray"));
    const said = await Promise.all(asked.map(refusalOf));
    expect(said.filter((words) => words === "opened")).toHaveLength(23);
    expect(said[5]).toMatch(/^misconfigured: xray refuses the config/);
    for (const outbound of await Promise.allSettled(asked)) if (outbound.status === "fulfilled") outbound.value.close();
  }, 60_000);

  it("gives a core nothing of ours: no environment, no rights, no folder, a user of its own, and few descriptors", async () => {
    const outbound = await open(good());
    const [pid] = rig.supervisor.pids;
    const proc = (name: string): string => readFileSync(`/proc/${pid}/${name}`, "latin1");
    expect(proc("environ")).toBe("");
    expect(proc("status")).toMatch(/^NoNewPrivs:\t1$/m);
    if (holdHere()?.seccomp === true) expect(proc("status")).toMatch(/^Seccomp:\t2$/m);
    if (process.getuid?.() === 0) {
      expect(proc("status")).toMatch(/^Uid:\t64913\t64913\t64913\t64913$/m);
      expect(proc("status")).toMatch(/^CapEff:\t0+$/m);
      expect(proc("status")).toMatch(/^Groups:\t *$/m);
    }
    for (const secret of [UUID, outbound.password]) expect(proc("cmdline")).not.toContain(secret);
    outbound.close();
  });

  it("keeps what two workspaces check in processes of their own, and serves them in turn", async () => {
    const ofAll = Array.from({ length: 60 }, (_, index) => open(good(), "singbox", false, index % 6));
    const opened = await Promise.all(ofAll);
    const { pids } = rig.supervisor;
    expect(pids.length).toBeGreaterThanOrEqual(6);
    const died = (): readonly number[] => opened.flatMap((outbound, index) => (outbound.hasDied() ? [index % 6] : []));
    for (const [killed, pid] of pids.entries()) {
      const before = died().length;
      process.kill(pid, "SIGKILL");
      await expect.poll(() => died().length, { timeout: 5_000 }).toBeGreaterThan(before);
      // All that died so far belongs to no more workspaces than cores were killed.
      expect(new Set(died()).size).toBeLessThanOrEqual(killed + 1);
    }
    expect(new Set(died()).size).toBe(6);
    for (const outbound of opened) outbound.close();
    await calm();
  }, 60_000);

  it("lets no client in without the password of a config", async () => {
    const outbound = await open(good());
    const wrong = { ...outbound, password: "guessed" };
    expect((await rig.ask(wrong)).kind).not.toBe("passed");
    expect((await rig.ask(outbound)).kind).toBe("passed");
    outbound.close();
  });

  it("what was in a core that died is asked again, and judged as it is", async () => {
    const once = signalOnce("SIGKILL");
    const { crashed } = rig.supervisor.stats;
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        rig.check(link(index % 2 === 0 ? UUID : OTHER_UUID), { timeoutMs: 20_000, opened: once }),
      ),
    );
    expect(rig.supervisor.stats.crashed).toBe(crashed + 1);
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(
      outcomes.map((_, index) => (index % 2 === 0 ? "ok" : "auth-failed")),
    );
  }, 60_000);

  it("replaces a core that hangs", async () => {
    const opened = signalOnce("SIGSTOP");
    const { crashed } = rig.supervisor.stats;
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => rig.check(link(), { timeoutMs: 20_000, engine: "singbox", opened })),
    );
    expect(outcomes.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
    await expect.poll(() => rig.supervisor.stats.crashed, { timeout: 5_000 }).toBe(crashed + 1);
  }, 60_000);

  it("replaces a core that hangs after it let a connection in", async () => {
    // Lets every client in (RFC 1928, 1929), says that the path is open, and then stands still; the next one is the real program.
    const script = `const { inbounds: [{ listen_port }] } = JSON.parse(require("fs").readFileSync(0, "utf8"));
      require("net").createServer((socket) => {
        socket.once("data", (bytes) => {
          if (bytes.includes("door")) return socket.write(Buffer.from([5, 2, 1, 0]));
          const answer = Buffer.from([5, 2, 1, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
          socket.write(answer, () => process.kill(process.pid, "SIGSTOP"));
        });
      }).listen(listen_port, "127.0.0.1");`;
    const folder = mkdtempSync(join(rig.folder, "hangs-"));
    for (const path of [rig.folder, folder]) chmodSync(path, 0o777);
    const real = join(folder, "sing-box");
    copyFileSync(findCore("singbox", CORE_PLACES)?.path ?? "", real);
    chmodSync(real, 0o755);
    const other = await withProgram(
      `mkdir ${folder}/once 2>&- || exec ${real} "$@"\nexec ${process.execPath} -e '${script}'`,
    );
    expect(await other.check(link(), { engine: "singbox", timeoutMs: 20_000 })).toMatchObject({ verdict: "ok" });
    await expect.poll(() => other.supervisor.stats.crashed, { timeout: 5_000 }).toBe(1);
  }, 60_000);

  it.each([
    ["ends at once", "exit 1"],
    ["prints garbage and ends", "head -c 200000 /dev/urandom; exit 3"],
    ["is no program", "exec /nowhere/at/all"],
  ])(
    "a program that %s is our fault, and no config's",
    async (_, script) => {
      const other = await withProgram(script);
      const outcome = await other.check(link(), { engine: "singbox" });
      expect(outcome).toMatchObject({ verdict: "unsupported", message: "sing-box does not work on this checker" });
      expect(other.supervisor.stats).toMatchObject({ quarantined: 0, running: 0 });
      // Without the wish for this one, the other core does it.
      expect(await other.check(link())).toMatchObject({ verdict: "ok", tunnel: { engineUsed: "xray" } });
    },
    60_000,
  );

  it("a core that fills its log is read and does its work", async () => {
    // The core's user, who is not ours, must reach what the program of ours starts.
    const real = join(rig.folder, "sing-box");
    copyFileSync(findCore("singbox", CORE_PLACES)?.path ?? "", real);
    chmodSync(real, 0o755);
    chmodSync(rig.folder, 0o755);
    const other = await withProgram(
      `(trap '' PIPE; yes "$(head -c 3000 /dev/zero | tr '\\0' x)" | head -c 30000000) & exec ${real} "$@"`,
    );
    expect(await other.check(link(), { engine: "singbox", timeoutMs: 20_000 })).toMatchObject({ verdict: "ok" });
  }, 60_000);

  it("a core that loses its port says nothing about the server", async () => {
    // Accepts the identity user (RFC 1928, 1929) and never listens again.
    const script = `const { inbounds: [{ listen_port }] } = JSON.parse(require("fs").readFileSync(0, "utf8"));
      const server = require("net").createServer((socket) => {
        socket.once("data", () => {
          socket.write(Buffer.from([5, 2, 1, 0]));
          server.close();
        });
      }).listen(listen_port, "127.0.0.1");
      setInterval(() => {}, 1000);`;
    const other = await withProgram(`exec ${process.execPath} -e '${script}'`);
    const outcome = await other.check(link(), { engine: "singbox", timeoutMs: 20_000 });
    expect(outcome).toMatchObject({ verdict: "unfit" });
    await expect.poll(() => other.supervisor.stats.running, { timeout: 10_000 }).toBe(0);
  }, 60_000);

  it("a core that never gets ready says nothing about the server", async () => {
    const other = await withProgram("exec sleep 60");
    expect(await other.check(link(), { engine: "singbox", timeoutMs: 1_500 })).toMatchObject({ verdict: "unfit" });
  }, 60_000);

  it("a core that is not installed says what to do", async () => {
    const nowhere = { xray: null, singbox: null, dataDir: "/nowhere", path: "" };
    const other = await openLinkRig({ places: nowhere });
    others.push(other);
    expect(await other.check(link(), { engine: "singbox" })).toEqual({
      verdict: "unsupported",
      message: "sing-box is not installed on this checker: run `sonde cores install`, or set SONDE_SING_BOX",
    });
  });

  it("keeps its descriptors and processes flat over 200 batches", async () => {
    const count = (): number => readdirSync("/proc/self/fd").length;
    const one = async (): Promise<void> => (await open(good(), "xray")).close();
    for (let batch = 0; batch < 10; batch++) await one();
    await calm();
    const before = count();
    const { started } = rig.supervisor.stats;
    for (let batch = 0; batch < 200; batch++) await one();
    await calm();
    expect(rig.supervisor.stats.started - started).toBe(200);
    expect(count()).toBeLessThanOrEqual(before + 2);
  }, 120_000);

  it("gives up what a thread held when its port closes", async () => {
    const theirs = rig.supervisor.connect();
    const outbounds = connectOutbounds(theirs);
    await outbounds.open({ config: good(), address: "127.0.0.1", engine: "xray", alone: false, workspace: 1 }, never);
    expect(rig.supervisor.stats.open).toBe(1);
    theirs.close();
    await calm();
  });

  it("a check that ends before its core is ready leaves nothing behind", async () => {
    let abort: (fault: Error) => void = never;
    const request = { config: good(), address: "127.0.0.1", engine: "singbox", alone: false, workspace: 1 } as const;
    const asked = rig.outbounds.open(request, (listener) => {
      abort = listener;
    });
    abort(new DeadlinePassed());
    expect(await refusalOf(asked)).toMatch(/^unfit: /);
    const late = rig.outbounds.open(request, (listener) => listener(new NetworkFault("cancelled", "stopping")));
    expect(await refusalOf(late)).toMatch(/^cancelled: /);
    await calm();
  });
});
