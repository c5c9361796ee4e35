/** A broker whose thread ends: its children are told, none waits for ever, and the next broker works. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, expect, it } from "vitest";
import { type BrokerService, startBroker } from "../../native/sandbox/broker-service.ts";
import { holdHere, knowsListeners, prepareChild } from "../../native/sandbox/confined.ts";
import { describeWith } from "../prerequisites.ts";

const threadFile = new URL("../../dist/native/sandbox/broker-thread.js", import.meta.url);
const SYSTEM = ["/bin", "/lib", "/lib64", "/usr", "/etc/ld.so.cache"].map((path) => ({ path, access: "run" as const }));

describeWith([], "the thread of a broker", () => {
  const brokers: BrokerService[] = [];
  afterAll(async () => {
    for (const broker of brokers) await broker.close();
  });
  async function start(): Promise<BrokerService> {
    const broker = await startBroker({ ownId: null, threadFile });
    if (typeof broker === "string") throw new Error(broker);
    brokers.push(broker);
    return broker;
  }

  it.runIf(holdHere()?.seccomp === true && knowsListeners())(
    "tells when it has ended, and leaves no call unanswered",
    async () => {
      const broker = await start();
      let isLost = false;
      const onLost = (): void => {
        isLost = true;
      };
      const announced = broker.announce({ targets: [], onRefused: () => {}, onLost });
      const confinement = {
        rules: { files: SYSTEM, listens: [], connects: [] },
        mayUseDatagrams: false,
        reach: "brokered",
        routes: "none",
        ownId: null,
        capabilities: [],
        largestFileBytes: 0,
      } as const;
      const script = "echo up; read -r line; exec 3<>/dev/tcp/127.0.0.1/9";
      const program = { path: "/bin/bash", descriptor: null, args: ["-c", script], environment: [] };
      const child = prepareChild(confinement, program, announced);
      const bash = spawn(child.file, [], { env: {}, cwd: "/", stdio: ["pipe", "pipe", "pipe", ...child.descriptors] });
      child.close();
      let said = "";
      bash.stderr?.on("data", (bytes: Buffer) => {
        said += bytes.toString();
      });
      if (bash.stdout !== null) await once(bash.stdout, "data");
      await broker.close();
      expect([isLost, broker.isAlive]).toEqual([true, false]);
      bash.stdin?.write("go\n");
      await once(bash, "close");
      expect(said).toContain("Function not implemented");
      expect((await start()).isAlive).toBe(true);
    },
  );
});
