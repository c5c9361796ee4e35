/** connectTime() over the native sweep: what stream.ts does with Node's sockets, at half the cost. */
import { type ConnectSweep, openConnectSweep } from "../../native/connect-sweep.ts";
import type { OwnedDescriptors } from "../../native/owned-descriptors.ts";
import { ConnectRace } from "./connect-race.ts";
import { connectTime as nodeConnectTime } from "./stream.ts";
import type { Transport } from "./transport.ts";

export interface ConnectTimer {
  readonly connectTime: Transport["connectTime"];
  /** Settles when it is known which of the two ways works here; the first connect asks. */
  ready(): Promise<"native" | "node">;
  close(): void;
}

/** Native where that works on this machine; Node's own until it is known, and elsewhere. */
export function createConnectTimer(owned?: OwnedDescriptors): ConnectTimer {
  let sweep: ConnectSweep | null = null;
  let opening: Promise<"native" | "node"> | undefined;
  let isOpen = true;

  async function open(): Promise<"native" | "node"> {
    const opened = await openConnectSweep(owned);
    if (isOpen) sweep = opened;
    else opened?.close();
    return opened === null ? "node" : "native";
  }
  function ready(): Promise<"native" | "node"> {
    opening ??= open();
    return opening;
  }

  return {
    ready,
    connectTime(addresses, port, context) {
      const native = sweep;
      if (native === null) {
        void ready();
        return nodeConnectTime(addresses, port, context);
      }
      return new Promise((resolve, reject) => {
        new ConnectRace<number>({
          addresses,
          port,
          context,
          attempt: ({ ip, family }, connected, failed) => native.start(ip, family, port, connected, failed),
          resolve: (connectMs, address) => resolve({ address, connectMs }),
          reject,
        }).start();
      });
    },
    close() {
      isOpen = false;
      sweep?.close();
      sweep = null;
    },
  };
}
