/** What a core that a server has taken over reaches, in the forms in which Sonde is run: as root, as a user, as a unit of systemd. */

import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { chmodSync, chownSync, mkdirSync, readdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdHere } from "../../native/sandbox/confined.ts";
import { freePort } from "../free-port.ts";
import { describeWith } from "../prerequisites.ts";
import { startProduct } from "../product.ts";
import { cleanUp, temporaryFolder } from "../service.ts";
import {
  type Aims,
  buildTakenOver,
  type Listener,
  linkOf,
  listenAt,
  type Report,
  reachedOf,
  setuidCopy,
} from "./taken-over.ts";

/** No other process has it: it is of the range that systemd gives to transient services. */
const USER = 61_200;

describeWith(["root", "setpriv", "go"], "a core that a server has taken over", () => {
  let folder = "";
  let program = "";
  let setuid = "";
  beforeAll(async () => {
    folder = temporaryFolder();
    chmodSync(folder, 0o755);
    program = await buildTakenOver(folder);
    setuid = setuidCopy(program);
  }, 120_000);
  afterAll(cleanUp);

  function aimsOf(
    dataDir: string,
    to: { readonly near: number; readonly api?: number; readonly unix: string; readonly datagrams: number },
  ): Aims {
    const file = (name: string): string => join(dataDir, name);
    return {
      files: {
        "sealing key": file("sealing.key"),
        database: file("control.sqlite"),
        "owner key": file("owner.key"),
        "/etc/passwd": "/etc/passwd",
      },
      folders: { "data folder": dataDir, "/tmp": "/tmp", "/dev/shm": "/dev/shm" },
      ports: { "our API": to.api ?? to.near, "a neighbour": to.near },
      datagrams: to.datagrams,
      unix: to.unix,
      setuid,
    };
  }

  async function report(user: number | null): Promise<Report> {
    const dataDir = join(temporaryFolder(), "data");
    mkdirSync(dataDir);
    // Every folder above it may be walked through.
    for (const path of [join(dataDir, ".."), folder]) chmodSync(path, 0o755);
    if (user !== null) chownSync(dataDir, user, user);
    const words = ["--reuid", String(user), "--regid", String(user), "--clear-groups", "--", process.execPath];
    const product = await startProduct({
      dataDir,
      env: { SONDE_SING_BOX: program, SONDE_LOG: "info", SONDE_METRICS_TOKEN: "secret-token", SONDE_PLANS: "" },
      ...(user !== null && { command: ["setpriv", ...words] }),
    });
    const listeners: Listener[] = [];
    const listen = async (at: number | string): Promise<Listener> => {
      const listener = await listenAt(at);
      listeners.push(listener);
      return listener;
    };
    const datagrams = createSocket("udp4").bind(await freePort(), "127.0.0.1");
    try {
      const [server, neighbour] = [await freePort(), await freePort()];
      const unix = join(folder, `socket-${user}`);
      await listen(neighbour);
      await listen(unix);
      chmodSync(unix, 0o777);
      const { line } = await listen(server);
      expect(readdirSync(dataDir)).toEqual(expect.arrayContaining(["sealing.key", "control.sqlite", "owner.key"]));
      const { port: datagramPort } = datagrams.address();
      const aims = aimsOf(dataDir, { near: neighbour, api: product.port, unix, datagrams: datagramPort });
      void product.api.post("/check", { config: linkOf(server, aims), engine: "singbox" }).catch(() => undefined);
      return JSON.parse(await line) as Report;
    } finally {
      for (const { server } of listeners) server.close();
      datagrams.close();
      await product.kill();
    }
  }

  it("reaches much where nothing holds it, so that what follows can fail", { timeout: 60_000 }, async () => {
    const [port, server, neighbour] = [await freePort(), await freePort(), await listenAt(await freePort())];
    const { line, server: reports } = await listenAt(server);
    const { port: near } = neighbour.server.address() as AddressInfo;
    const path = `/${Buffer.from(JSON.stringify(aimsOf(folder, { near, unix: "/nowhere", datagrams: near }))).toString("base64url")}`;
    const config = {
      inbounds: [{ listen_port: port }],
      outbounds: [{ server: "127.0.0.1", server_port: server, transport: { path } }],
    };
    const core = spawn(program, { env: { SECRET: "s" }, stdio: ["pipe", "ignore", "inherit"] });
    try {
      core.stdin.end(JSON.stringify(config));
      const reached = reachedOf(JSON.parse(await line) as Report);
      const some = ["connect a neighbour", "environment", "parent's environ", "parent's memory", "process_vm_readv"];
      const more = [
        "program of the system",
        "read /etc/passwd",
        "setuid",
        "signal to parent",
        "write /tmp",
        "datagrams",
      ];
      expect(reached).toEqual(expect.arrayContaining([...some, ...more]));
    } finally {
      core.kill();
      reports.close();
      neighbour.server.close();
    }
  });

  describe.runIf(holdHere()?.seccomp === true && (holdHere()?.landlock ?? 0) >= 6)(
    "where the kernel can hold it",
    () => {
      it.each([
        ["root", null],
        ["a plain user", USER],
      ])("reaches nothing of what it tries where Sonde runs as %s", { timeout: 120_000 }, async (_, user) => {
        const all = await report(user);
        expect(Object.keys(all).length).toBeGreaterThan(29);
        expect(reachedOf(all), JSON.stringify(all, null, 1)).toEqual([]);
      });
    },
  );
});
