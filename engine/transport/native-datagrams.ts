/** openDatagrams() over native sockets: a third of the cost of the same in datagram-link.ts, which uses Node's sockets. */
import { openDatagramSockets } from "../../native/datagrams.ts";
import type { OwnedDescriptors } from "../../native/owned-descriptors.ts";
import { openLink, openNodeSocket } from "./datagram-link.ts";
import { createNativeWay } from "./native-way.ts";
import type { Transport } from "./transport.ts";

export interface Datagrams {
  readonly openDatagrams: Transport["openDatagrams"];
  /** Settles when it is known which of the two ways works here; the first link asks. */
  ready(): Promise<"native" | "node">;
  close(): void;
}

/** Native where that works on this machine; Node's own until it is known, and elsewhere. */
export function createDatagrams(owned?: OwnedDescriptors): Datagrams {
  const way = createNativeWay(() => openDatagramSockets(owned));
  return {
    ready: way.ready,
    openDatagrams(address, port, listener, context) {
      const native = way.take();
      if (native !== null) {
        return openLink(
          ({ ip, family }, to, each) => native.open(ip, family, to, each),
          address,
          port,
          listener,
          context,
        );
      }
      return openLink(openNodeSocket, address, port, listener, context);
    },
    close: way.close,
  };
}
