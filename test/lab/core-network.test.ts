/** What a change of this machine's network does to checks that are under way: nothing where sing-box is held, and another look where it is not. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { setTimeout as later } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { type Bounds, boundsHere, isHeld } from "../../engine/cores/core-process.ts";
import { holdHere } from "../../native/sandbox/confined.ts";
import { describeWith } from "../prerequisites.ts";
import { type LinkRig, openLinkRig, PASSWORD } from "./link-rig.ts";
import { openNamespace, type ServerNamespace } from "./namespace.ts";

const CLONE_NEWNET = 0x4000_0000;
/** sing-box looks at routes 1 s after the kernel's last news, which it takes once a second (sing-tun, monitor_linux.go): two or three seconds, ms. */
const REACTS_WITHIN_MS = 6_000;

describeWith(["proxy cores", "network namespaces"], "checks while the network changes", () => {
  let namespace: ServerNamespace;
  let own: number;
  const rigs: LinkRig[] = [];
  const pages: Server[] = [];
  beforeAll(() => {
    namespace = openNamespace("cn");
    ip("link", "add", "other", "type", "veth", "peer", "name", "end");
    ip("address", "add", "198.51.100.1/24", "dev", "other");
    for (const device of ["other", "end"]) ip("link", "set", device, "up");
    own = openSync("/proc/thread-self/ns/net", "r");
    enter(`/var/run/netns/${namespace.name}`);
  });
  afterEach(async () => {
    for (const rig of rigs.splice(0)) await rig.close();
    for (const page of pages.splice(0)) page.close();
  });
  afterAll(() => {
    enter(`/proc/self/fd/${own}`);
    closeSync(own);
    namespace.close();
  });
  const ip = (...args: readonly string[]): void => {
    execFileSync("ip", ["-n", namespace.name, ...args], { timeout: 10_000 });
  };

  async function check(
    bounds: readonly Bounds[] | undefined,
  ): Promise<{ verdict: string; opened: number; closed: number }> {
    ip("route", "replace", "default", "dev", "way");
    let closed = 0;
    let opened = 0;
    /** Until it is over no question is answered: a check asks a silent endpoint again. */
    let reaction: Promise<void> | undefined;
    const change = async (socket: Socket): Promise<void> => {
      const whenClosed = once(socket, "close").then(() => 1);
      ip("route", "replace", "default", "dev", "other");
      closed = (await Promise.race([whenClosed, later(REACTS_WITHIN_MS)])) ?? 0;
    };
    const page = createServer(async (request, response) => {
      reaction ??= change(request.socket);
      await reaction;
      // Asked again in the same core it would pass: what is left of the check shall fail, too.
      if (closed === 1 && opened === 1) return request.socket.destroy();
      return response.end(new URL(request.url ?? "/", "http://localhost").searchParams.get("token"));
    });
    pages.push(page);
    const url = `http://127.0.0.1:${await listen(page)}/#token`;
    const rig = await openLinkRig({ verifyUrls: [url], ...(bounds !== undefined && { bounds }) });
    rigs.push(rig);
    const certificates = [{ certificateFile: `${rig.folder}/server.crt`, keyFile: `${rig.folder}/server.key` }];
    const hysteria = { network: "hysteria", hysteriaSettings: { version: 2 } };
    const [port = 0] = await rig.serve("xray", [
      {
        protocol: "hysteria",
        settings: { version: 2, clients: [{ auth: PASSWORD }] },
        streamSettings: { ...hysteria, security: "tls", tlsSettings: { alpn: ["h3"], certificates } },
      },
    ]);
    const outcome = await rig.check(`hy2://${PASSWORD}@127.0.0.1:${port}?sni=localhost`, {
      engine: "singbox",
      timeoutMs: 30_000,
      opened: () => {
        opened += 1;
      },
    });
    return { verdict: outcome.verdict, opened, closed };
  }

  it.runIf(holdHere()?.seccomp === true).each([
    ["brokered", undefined],
    ["held", boundsHere().filter(isHeld)],
  ])("go on in a core that is %s", async (_, bounds) => {
    expect(await check(bounds)).toEqual({ verdict: "ok", opened: 1, closed: 0 });
  });

  it("are run again when a core that is not held closes their connections", async () => {
    const loose = boundsHere().filter((bounds) => !isHeld(bounds));
    expect(await check(loose)).toEqual({ verdict: "ok", opened: 2, closed: 1 });
  });
});

/** This thread, and what is started by it from now on. */
function enter(path: string): void {
  const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
  const setns = koffi.load(null).func("setns", "int", ["int", "int"]);
  const descriptor = openSync(path, "r");
  try {
    if (setns(descriptor, CLONE_NEWNET) !== 0) throw new Error(`setns: errno ${koffi.errno()}`);
  } finally {
    closeSync(descriptor);
  }
}
