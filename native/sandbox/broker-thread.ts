/** The thread of a broker: nothing else runs in it, so that a connection waits for no other work. */
import { parentPort, workerData } from "node:worker_threads";
import { loadLibc } from "../libc.ts";
import { Broker } from "./broker.ts";
import { loadKernel } from "./kernel.ts";
import { unpackTargets } from "./peer.ts";
import { WaitingLoop } from "./waiting-loop.ts";

export interface BrokerThreadData {
  /** Our end of the socket pair; closed by this thread. */
  readonly inbox: number;
  /** Rung after each message to this thread (waiting-loop.ts); the owner closes it. */
  readonly bell: number;
  /** The user that children are: the thread becomes the same, because only that user, or root with all rights, may read their memory. */
  readonly ownId: number | null;
}

export type ToBroker =
  /** targets: of packTargets(). */
  | { readonly type: "announce"; readonly token: string; readonly targets: Uint8Array }
  | { readonly type: "forget"; readonly token: string }
  | { readonly type: "close" };

export type FromBroker =
  | { readonly type: "ready" }
  | { readonly type: "unavailable"; readonly reason: string }
  | {
      readonly type: "refused";
      readonly token: string;
      readonly protocol: "tcp" | "udp";
      /** 4 or 16 bytes; null: an address of another family. */
      readonly ip: Uint8Array | null;
      readonly port: number;
    };

/** A thread that is terminated without a message ends this late, ms. */
const IDLE_MS = 1_000;
/** Calls of children before Node's event loop has a turn, in which it frees what was used. */
const WAKES_PER_TURN = 512;

function serve({ inbox, bell, ownId }: BrokerThreadData): void {
  const post = (word: FromBroker): void => parentPort?.postMessage(word);
  const [libc, kernel] = [loadLibc(), loadKernel()];
  if (libc === null || kernel === null) {
    post({ type: "unavailable", reason: "there is no native code for this system" });
    return;
  }
  if (ownId !== null && kernel.becomeUser(ownId) !== 0) {
    post({ type: "unavailable", reason: `the thread cannot become another user (errno ${kernel.errno()})` });
    return;
  }
  const loop = new WaitingLoop(libc, bell);
  const broker = new Broker({
    libc,
    readiness: loop,
    arch: kernel.arch,
    inbox,
    onRefused: (token, { protocol, peer }) =>
      post({ type: "refused", token, protocol, ip: peer?.ip ?? null, port: peer?.port ?? 0 }),
  });
  // Also when the thread ends by a fault: a child whose listener is closed gets ENOSYS and does not wait for ever.
  process.once("exit", () => {
    broker.close();
    loop.close();
    libc.close(inbox);
  });
  let isClosed = false;
  parentPort?.on("message", (word: ToBroker) => {
    if (word.type === "announce") broker.announce(word.token, unpackTargets(word.targets));
    else if (word.type === "forget") broker.forget(word.token);
    else {
      isClosed = true;
      parentPort?.close();
    }
  });
  const turn = (): void => {
    if (isClosed) return;
    loop.wait(IDLE_MS, WAKES_PER_TURN);
    // A message that rang the bell is read before this: sockets and messages come before immediates.
    setImmediate(turn);
  };
  setImmediate(turn);
  post({ type: "ready" });
}

serve(workerData as BrokerThreadData);
