/** connectTime() over the native sweep: half the cost of the same in stream.ts, which uses Node's sockets. */
import { openConnectSweep } from "../../native/connect-sweep.ts";
import type { OwnedDescriptors } from "../../native/owned-descriptors.ts";
import { ConnectRace } from "./connect-race.ts";
import { createNativeWay } from "./native-way.ts";
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
  const way = createNativeWay(() => openConnectSweep(owned));
  return {
    ready: way.ready,
    connectTime(addresses, port, context) {
      const native = way.take();
      if (native === null) return nodeConnectTime(addresses, port, context);
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
    close: way.close,
  };
}
