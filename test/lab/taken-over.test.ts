/** What a core that a server has taken over reaches, in the forms in which Sonde is run: as root, as a user, as a unit of systemd. */

import { createSocket } from "node:dgram";
import { chmodSync, chownSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdHere } from "../../native/sandbox/confined.ts";
import { freePort } from "../free-port.ts";
import { describeWith } from "../prerequisites.ts";
import { startProduct } from "../product.ts";
import { cleanUp, temporaryFolder } from "../service.ts";
import { type Aims, buildTakenOver, type Listener, linkOf, listenAt, type Report, setuidCopy } from "./taken-over.ts";

/** Nobody else's: of the range that systemd gives to passing services. */
const USER = 61_200;
/** What it always may: it is told to connect there. */
const ITS_OWN: readonly string[] = [];

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
      const abstract = `sonde-test-${process.pid}-${user}`;
      await listen(neighbour);
      await listen(unix);
      chmodSync(unix, 0o777);
      await listen(`\0${abstract}`);
      const { line } = await listen(server);
      const file = (name: string): string => join(dataDir, name);
      expect(readdirSync(dataDir)).toEqual(expect.arrayContaining(["sealing.key", "control.sqlite", "owner.key"]));
      const aims: Aims = {
        files: {
          "sealing key": file("sealing.key"),
          database: file("control.sqlite"),
          "owner key": file("owner.key"),
          "/etc/passwd": "/etc/passwd",
        },
        folders: { "data folder": dataDir, "/tmp": "/tmp", "/dev/shm": "/dev/shm" },
        ports: { "our API": product.port, "a neighbour": neighbour },
        datagrams: datagrams.address().port,
        unix,
        abstract,
        setuid,
      };
      void product.api.post("/check", { config: linkOf(server, aims), engine: "singbox" }).catch(() => undefined);
      return JSON.parse(await line) as Report;
    } finally {
      for (const { server } of listeners) server.close();
      datagrams.close();
      await product.kill();
    }
  }

  const reachedOf = (all: Report): readonly string[] => {
    const names = Object.entries(all).flatMap(([name, how]) => (how === "reached" ? [name] : []));
    return names.filter((name) => !ITS_OWN.includes(name)).sort();
  };

  describe.runIf(holdHere()?.seccomp === true && (holdHere()?.landlock ?? 0) >= 6)(
    "where the kernel can hold it",
    () => {
      it.each([
        ["root", null],
        ["a plain user", USER],
      ])("reaches nothing of what it tries where Sonde runs as %s", { timeout: 120_000 }, async (_, user) => {
        const all = await report(user);
        expect(Object.keys(all).length).toBeGreaterThan(30);
        expect(reachedOf(all), JSON.stringify(all, null, 1)).toEqual([]);
      });
    },
  );
});
