/**
 * What a core that a server has taken over reaches, in the forms in which Sonde is run: as root, as a user, and in Docker where an engine is
 * named (docs/develop/tests.md). As a unit of systemd: test/e2e/systemd-units.test.ts.
 */

import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { chmodSync, chownSync, mkdirSync, readdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { holdHere } from "../../native/sandbox/confined.ts";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { describeWith } from "../prerequisites.ts";
import { type Product, startProduct } from "../product.ts";
import { cleanUp } from "../service.ts";
import { containerOf, dockerHere } from "./docker-form.ts";
import { openNamespace, type ServerNamespace } from "./namespace.ts";
import {
  type Aims,
  buildTakenOver,
  datagramLinkOf,
  type Elsewhere,
  type Listener,
  layTrap,
  linkOf,
  listenAt,
  type Report,
  reachedOf,
  serveDatagrams,
  setuidCopy,
  type Trap,
} from "./taken-over.ts";

/** No other process has it: it is of the range that systemd gives to transient services. */
const USER = 61_200;
/** Of the image. */
const IMAGE_USER = 1_000;

interface Form {
  readonly name: string;
  readonly user: number;
  readonly isInDocker: boolean;
}
const FORMS: readonly Form[] = [
  { name: "root", user: 0, isInDocker: false },
  { name: "a plain user", user: USER, isInDocker: false },
  ...(dockerHere() === null
    ? []
    : [
        { name: "the image's user in Docker", user: IMAGE_USER, isInDocker: true },
        { name: "root in Docker", user: 0, isInDocker: true },
      ]),
];

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

  async function startAs({ user, isInDocker }: Form): Promise<Product> {
    const dataDir = join(temporaryFolder(), "data");
    mkdirSync(dataDir);
    // Every folder above it may be walked through.
    for (const path of [join(dataDir, ".."), folder]) chmodSync(path, 0o755);
    chownSync(dataDir, user, user);
    const env = { SONDE_SING_BOX: program, SONDE_LOG: "info", SONDE_METRICS_TOKEN: "secret-token", SONDE_PLANS: "" };
    const settings = { dataDir, env };
    if (isInDocker) {
      const { command, kill } = containerOf(user, [dataDir], [folder]);
      const product = await startProduct({ ...settings, command });
      return { ...product, kill: async () => kill() };
    }
    const words = ["--reuid", String(user), "--regid", String(user), "--clear-groups", "--", process.execPath];
    return startProduct({ ...settings, ...(user !== 0 && { command: ["setpriv", ...words] }) });
  }

  async function report(form: Form): Promise<Report> {
    const product = await startAs(form);
    const { dataDir } = product;
    const listeners: Listener[] = [];
    const listen = async (at: number | string): Promise<Listener> => {
      const listener = await listenAt(at);
      listeners.push(listener);
      return listener;
    };
    const datagrams = createSocket("udp4").bind(await freePort(), "127.0.0.1");
    try {
      const [server, neighbour] = [await freePort(), await freePort()];
      const unix = join(folder, `socket-${form.user}-${form.isInDocker}`);
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

  describeWith(["network namespaces", "nft"], "tries every way to another address", () => {
    let lan: ServerNamespace;
    let traps: Trap[] = [];
    let port = 0;
    let places: Elsewhere = { hosts: [], port: 0 };
    beforeAll(() => {
      lan = openNamespace("core");
    });
    afterAll(() => lan?.close());
    beforeEach(async () => {
      port = await freePort();
      // Loopback, another address of this machine, and a machine of its network.
      places = { hosts: ["127.0.0.2", "::1", lan.clientIp, lan.serverIp], port: await freePort() };
      const here = [`127.0.0.2:${port}`, `[::1]:${port}`, `${lan.clientIp}:${port}`, `127.0.0.1:${places.port}`];
      for (const at of here) traps.push(await layTrap(program, at));
      traps.push(await layTrap(program, `${lan.serverIp}:${port}`, lan.within([])));
    });
    afterEach(() => {
      for (const trap of traps) trap.close();
      traps = [];
    });
    const arrivedAt = (): readonly string[] => traps.flatMap(({ arrived }) => arrived);

    it.each(["tcp", "udp"] as const)(
      "and comes there where nothing holds it: %s",
      { timeout: 60_000 },
      async (protocol) => {
        const password = Buffer.from(JSON.stringify({ elsewhere: places })).toString("base64url");
        const aims = protocol === "udp" ? { password } : { transport: { path: `/${password}` } };
        const outbounds = [{ server: "127.0.0.1", server_port: port, ...aims }];
        const server = protocol === "udp" ? await serveDatagrams(port) : await listenAt(port);
        const core = spawn(program, { env: {}, stdio: ["pipe", "ignore", "inherit"] });
        try {
          core.stdin.end(JSON.stringify({ inbounds: [{ listen_port: await freePort() }], outbounds }));
          await server.line;
          const names = ["connect to", "connect mapped", "sendto with fast open", "race of the socket"];
          const more = ["datagram by sendto", "datagram by sendmmsg", "race of a datagram's name", "datagram mapped"];
          for (const name of protocol === "udp" ? [...names, ...more] : names) {
            await expect.poll(() => arrivedAt().some((line) => line.includes(name)), { message: name }).toBe(true);
          }
          for (const { arrived } of traps) expect(arrived.length).toBeGreaterThan(2);
        } finally {
          core.kill();
          if ("server" in server) server.server.close();
          else server.close();
        }
      },
    );

    describe.runIf(holdHere()?.seccomp === true)("where a broker makes its connections", () => {
      it.each(FORMS.flatMap((form) => [[form.name, "tcp", form] as const, [form.name, "udp", form] as const]))(
        "as %s, in a batch of %s, it comes to its server alone",
        { timeout: 120_000 },
        async (_, protocol, form) => {
          const product = await startAs(form);
          const server = protocol === "udp" ? await serveDatagrams(port) : await listenAt(port);
          try {
            const link = protocol === "udp" ? datagramLinkOf(port, places) : linkOf(port, { elsewhere: places });
            void product.api.post("/check", { config: link, engine: "singbox" }).catch(() => undefined);
            const report = JSON.parse(await server.line) as Report;
            expect(Object.keys(report).length).toBeGreaterThan(protocol === "udp" ? 90 : 50);
            expect(reachedOf(report), JSON.stringify(report, null, 1)).toEqual([]);
            expect(arrivedAt()).toEqual([]);
            // The races were run: their other half comes to the server.
            expect(server.arrived()).toBeGreaterThan(50);
            expect(product.output()).toContain("cores: a core was refused what none of its configs names");
            expect(product.output()).toContain("network: their servers' addresses and ports alone");
          } finally {
            if ("server" in server) server.server.close();
            else server.close();
            await product.kill();
          }
        },
      );
    });
  });

  describe.runIf(holdHere()?.seccomp === true && (holdHere()?.landlock ?? 0) >= 6)(
    "where the kernel can hold it",
    () => {
      it.each(FORMS.map((form) => [form.name, form] as const))(
        "reaches nothing of what it tries where Sonde runs as %s",
        { timeout: 120_000 },
        async (_, form) => {
          const all = await report(form);
          expect(Object.keys(all).length).toBeGreaterThan(29);
          expect(reachedOf(all), JSON.stringify(all, null, 1)).toEqual([]);
        },
      );
    },
  );
});
