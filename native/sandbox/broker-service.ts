/** A broker of network connections (broker.ts) as the thread that starts children sees it: a thread that is tried before it is used. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { AF_UNIX, type Libc, loadLibc, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK, writeSockaddr } from "../libc.ts";
import { atUsualPriority } from "../thread-priority.ts";
import { TOKEN_BYTES } from "./broker.ts";
import type { BrokerThreadData, FromBroker, ToBroker } from "./broker-thread.ts";
import { type Confinement, holdHere, knowsListeners, prepareBrokerTrial, type WayToBroker } from "./confined.ts";
import { type Protocol, packTargets, type Target } from "./peer.ts";
import { ring } from "./waiting-loop.ts";

/** What a child was refused. */
export interface RefusedReach {
  readonly protocol: Protocol;
  /** null: an address of another family. */
  readonly ip: Uint8Array | null;
  readonly port: number;
}

export interface Announced extends WayToBroker {
  /** When the child has ended. */
  forget(): void;
}

export interface AnnouncedOptions {
  readonly targets: readonly Target[];
  readonly onRefused: (refused: RefusedReach) => void;
  /** The broker has died: every call of the child fails from now on. */
  readonly onLost: () => void;
}

export interface BrokerService {
  /** Before a child is started. */
  announce(options: AnnouncedOptions): Announced;
  /** False once its thread has died. */
  readonly isAlive: boolean;
  close(): Promise<void>;
}

export interface BrokerServiceOptions {
  /** The user that children are; null: ours. */
  readonly ownId: number | null;
  /** Where the thread's code is; absent: beside this file. */
  readonly threadFile?: URL;
}

/** Of the thread's start and of the trial, ms. */
const START_TIMEOUT_MS = 10_000;
const TRY_TIMEOUT_MS = 5_000;
const LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };
/** errno(3): what a socket that does not wait says of a connection that has begun. */
const EINPROGRESS = 115;

/** @returns why there is none here, in words, or a broker that has made a connection for a child */
export async function startBroker(options: BrokerServiceOptions): Promise<BrokerService | string> {
  const libc = loadLibc();
  if (libc === null || holdHere()?.seccomp !== true) return "no seccomp for children";
  if (!knowsListeners()) return "the kernel has no seccomp listeners";
  const service = await ThreadService.start(libc, options);
  if (typeof service === "string") return service;
  const refusal = await tryOut(libc, service, options.ownId).catch((error: unknown) => String(error));
  if (refusal === null) return service;
  await service.close();
  return refusal;
}

class ThreadService implements BrokerService {
  readonly #worker: Worker;
  /** The children's end. */
  readonly #outbox: number;
  readonly #bell: number;
  readonly #announced = new Map<string, AnnouncedOptions>();
  #isAlive = true;

  static async start(libc: Libc, { ownId, threadFile }: BrokerServiceOptions): Promise<ThreadService | string> {
    // EFD_CLOEXEC and EFD_NONBLOCK are those of sockets (eventfd(2)).
    const bell = libc.eventfd(0, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (bell < 0) return `eventfd: errno ${libc.errno()}`;
    const pair = Buffer.alloc(8);
    if (libc.socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) !== 0) {
      const errno = libc.errno();
      closeSync(bell);
      return `socketpair: errno ${errno}`;
    }
    const [inbox, outbox] = [pair.readInt32LE(0), pair.readInt32LE(4)];
    const file = threadFile ?? new URL(`./broker-thread${extname(import.meta.url)}`, import.meta.url);
    const workerData: BrokerThreadData = { inbox, bell, ownId };
    const worker = atUsualPriority(() => new Worker(file, { workerData, resourceLimits: LIMITS }));
    const started = await new Promise<string | null>((resolve) => {
      const late = setTimeout(() => resolve("its thread does not start"), START_TIMEOUT_MS);
      const settle = (refusal: string | null): void => {
        clearTimeout(late);
        resolve(refusal);
      };
      worker.once("message", (word: FromBroker) => settle(word.type === "unavailable" ? word.reason : null));
      worker.once("error", (error: Error) => settle(error.message));
      worker.once("exit", () => settle("its thread has ended"));
    });
    if (started === null) return new ThreadService(worker, outbox, bell);
    await worker.terminate();
    for (const descriptor of [outbox, inbox, bell]) closeSync(descriptor);
    return started;
  }

  private constructor(worker: Worker, outbox: number, bell: number) {
    this.#worker = worker;
    this.#outbox = outbox;
    this.#bell = bell;
    process.once("exit", this.#endAtExit);
    worker.on("message", (word: FromBroker) => {
      if (word.type === "refused") this.#announced.get(word.token)?.onRefused(word);
    });
    worker.on("error", () => {});
    worker.once("exit", () => this.#lost());
    worker.unref();
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  announce(options: AnnouncedOptions): Announced {
    const token = randomBytes(TOKEN_BYTES);
    const name = token.toString("hex");
    this.#announced.set(name, options);
    this.#post({ type: "announce", token: name, targets: packTargets(options.targets) });
    return {
      descriptor: this.#outbox,
      token,
      forget: () => {
        if (this.#announced.delete(name)) this.#post({ type: "forget", token: name });
      },
    };
  }

  async close(): Promise<void> {
    if (!this.#isAlive) return;
    const ended = once(this.#worker, "exit");
    this.#worker.ref();
    this.#post({ type: "close" });
    await ended;
  }

  #post(word: ToBroker): void {
    if (!this.#isAlive) return;
    this.#worker.postMessage(word);
    ring(this.#bell);
  }

  /** The end of a process waits for its threads. */
  readonly #endAtExit = (): void => this.#post({ type: "close" });

  #lost(): void {
    this.#isAlive = false;
    process.removeListener("exit", this.#endAtExit);
    closeSync(this.#outbox);
    closeSync(this.#bell);
    const all = [...this.#announced.values()];
    this.#announced.clear();
    for (const { onLost } of all) onLost();
  }
}

/** One child, one connection, as cores have them. @returns what was refused; null when it was made */
async function tryOut(libc: Libc, service: BrokerService, ownId: number | null): Promise<string | null> {
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sockaddr = Buffer.alloc(128);
  const address = sockaddr.subarray(0, writeSockaddr(libc, sockaddr, 4, "127.0.0.1", port));
  const targets: Target[] = [{ ip: address.subarray(4, 8), firstPort: port, lastPort: port, protocol: "tcp" }];
  const announced = service.announce({ targets, onRefused: () => {}, onLost: () => {} });
  try {
    const child = prepareBrokerTrial(trialConfinement(ownId), announced, address);
    const process = spawn(child.file, [], {
      env: {},
      stdio: ["ignore", "ignore", "pipe", ...child.descriptors],
      timeout: TRY_TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    child.close();
    let said = "";
    process.stderr?.on("data", (bytes: Buffer) => {
      said += bytes.toString("latin1");
    });
    const [code, signal] = (await once(process, "close")) as [number | null, NodeJS.Signals | null];
    if (code === 0 || code === EINPROGRESS) return null;
    return `${said.trim() || "a trial failed"} (${signal ?? `errno ${code}`})`;
  } finally {
    announced.forget();
    server.close();
  }
}

function trialConfinement(ownId: number | null): Confinement {
  return {
    rules: { files: [], listens: [], connects: [] },
    mayUseDatagrams: false,
    reach: "brokered",
    routes: "none",
    ownId,
    capabilities: [],
    largestFileBytes: 0,
  };
}
