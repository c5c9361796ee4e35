import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, readdirSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { AF_UNIX, type Libc, loadLibc, SOCK_CLOEXEC, SOCK_DGRAM } from "../libc.ts";
import { openReadiness, type Readiness } from "../readiness.ts";
import { Broker, TOKEN_BYTES } from "./broker.ts";
import type { Refusal } from "./brokered-child.ts";
import { type Confinement, holdHere, knowsListeners, prepareBrokerTrial, prepareChild } from "./confined.ts";
import { loadKernel } from "./kernel.ts";
import { type Target, writePeer } from "./peer.ts";

/** errno(3) */
const EACCES = 13;
const EINPROGRESS = 115;

const confinement: Confinement = {
  rules: { files: [], listens: [], connects: [] },
  mayUseDatagrams: true,
  reach: "brokered",
  routes: "none",
  ownId: null,
  capabilities: [],
  largestFileBytes: 0,
};
const SYSTEM = ["/bin", "/lib", "/lib64", "/usr", "/etc/ld.so.cache"].map((path) => ({ path, access: "run" as const }));
const HERE = Buffer.from([127, 0, 0, 1]);

/** As profiles of containers have it. */
function refusing(libc: Libc): Libc {
  let isRefused = false;
  return {
    ...libc,
    process_vm_readv() {
      isRefused = true;
      return -1;
    },
    errno() {
      const was = isRefused;
      isRefused = false;
      return was ? 1 : libc.errno();
    },
  };
}

describe.runIf(holdHere()?.seccomp === true && knowsListeners()).each([
  ["a broker", (libc: Libc) => libc],
  ["a broker where process_vm_readv is refused", refusing],
])("%s", (_, as) => {
  let libc: Libc;
  let readiness: Readiness;
  let broker: Broker;
  let inbox = 0;
  let outbox = 0;
  let server: Server;
  let port = 0;
  const refused: (Refusal & { readonly token: string })[] = [];
  let arrived = 0;

  beforeAll(async () => {
    const [found, kernel] = [loadLibc(), loadKernel()];
    const opened = found === null ? null : await openReadiness(found);
    if (found === null || opened === null || kernel === null) throw new Error("no native code");
    [libc, readiness] = [as(found), opened];
    readiness.hold();
    const pair = Buffer.alloc(8);
    expect(libc.socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair)).toBe(0);
    [inbox, outbox] = [pair.readInt32LE(0), pair.readInt32LE(4)];
    const onRefused = (token: string, refusal: Refusal): void => void refused.push({ token, ...refusal });
    broker = new Broker({ libc, readiness, arch: kernel.arch, inbox, onRefused });
    server = createServer((socket) => {
      arrived += 1;
      socket.destroy();
    });
    port = await listen(server);
  });
  afterAll(() => {
    broker.close();
    readiness.close();
    for (const fd of [inbox, outbox]) closeSync(fd);
    server.close();
  });

  const target = (to = port): Target => ({ ip: HERE, firstPort: to, lastPort: to, protocol: "tcp" });
  function sockaddr(to: number, isIpv6 = false): Buffer {
    const bytes = Buffer.alloc(28);
    return bytes.subarray(0, writePeer(bytes, { ip: HERE, port: to }, isIpv6));
  }
  /** @returns the errno of its one connection; 0 when it was made at once */
  async function connects(
    address: Buffer,
    token: Buffer = randomBytes(TOKEN_BYTES),
    started?: () => void,
  ): Promise<number | null> {
    const child = prepareBrokerTrial(confinement, { descriptor: outbox, token }, address);
    const process = spawn(child.file, [], { env: {}, stdio: ["ignore", "ignore", "ignore", ...child.descriptors] });
    child.close();
    started?.();
    const [code] = (await once(process, "exit")) as [number | null];
    return code;
  }
  function announced(targets: readonly Target[]): Buffer {
    const token = randomBytes(TOKEN_BYTES);
    broker.announce(token.toString("hex"), targets);
    return token;
  }

  it("connects a child to what is on its list", async () => {
    expect([0, EINPROGRESS]).toContain(await connects(sockaddr(port), announced([target()])));
    expect([0, EINPROGRESS]).toContain(await connects(sockaddr(port, true), announced([target()])));
    await expect.poll(() => arrived).toBe(2);
    expect(refused).toEqual([]);
  });

  it("refuses everything else, and says what it was", async () => {
    const token = announced([target(port === 1 ? 2 : 1)]);
    expect(await connects(sockaddr(port), token)).toBe(EACCES);
    expect(refused).toEqual([{ token: token.toString("hex"), protocol: "tcp", peer: { ip: HERE, port } }]);
    expect(await connects(Buffer.alloc(16), announced([target()]))).toBe(EACCES);
    expect(refused[1]).toMatchObject({ peer: null });
    expect(await connects(sockaddr(port), announced([{ ...target(), protocol: "udp" }]))).not.toBe(0);
    expect(arrived).toBe(2);
  });

  it("waits for the list of a child that it heard of before", async () => {
    const token = randomBytes(TOKEN_BYTES);
    const late = (): void => void setImmediate(() => broker.announce(token.toString("hex"), [target()]));
    expect([0, EINPROGRESS]).toContain(await connects(sockaddr(port), token, late));
  });

  it("leaves nothing open, and a child that it has forgotten cannot connect", async () => {
    const before = readdirSync("/proc/self/fd").length;
    for (let round = 0; round < 5; round++) await connects(sockaddr(port), announced([target()]));
    await expect.poll(() => readdirSync("/proc/self/fd").length).toBe(before);
    const confined: Confinement = { ...confinement, rules: { ...confinement.rules, files: SYSTEM } };
    const script = `echo up; read -r line; exec 3<>/dev/tcp/127.0.0.1/${port}`;
    const program = { path: "/bin/bash", descriptor: null, args: ["-c", script], environment: [] };
    const token = announced([target()]);
    const child = prepareChild(confined, program, { descriptor: outbox, token });
    const bash = spawn(child.file, [], { env: {}, cwd: "/", stdio: ["pipe", "pipe", "pipe", ...child.descriptors] });
    child.close();
    let said = "";
    bash.stderr?.on("data", (bytes: Buffer) => {
      said += bytes.toString();
    });
    if (bash.stdout !== null) await once(bash.stdout, "data");
    broker.forget(token.toString("hex"));
    bash.stdin?.write("go\n");
    await once(bash, "close");
    expect(said).toContain("Function not implemented");
    await expect.poll(() => readdirSync("/proc/self/fd").length).toBe(before);
  });
});
