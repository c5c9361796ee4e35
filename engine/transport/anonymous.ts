/**
 * The transport of checks for anonymous callers (POST /check/public). Its faults name no address of this network, none of our own ports
 * and no name server: a caller learns that a target is refused, and not why.
 */
import { NetworkFault } from "../net/fault.ts";
import type { Transport } from "./transport.ts";

const REFUSED = "The target is refused: it is private, reserved or for documentation";
const NO_ADDRESS = "The name has no address";
const RESOLVER_TROUBLE = "The checker could not resolve the name";

export function anonymousTransport(transport: Transport): Transport {
  return {
    ...transport,
    async resolve(host, port, preference, context) {
      try {
        return await transport.resolve(host, port, preference, context);
      } catch (error) {
        throw plain(error);
      }
    },
    judgePorts(ip, from, to) {
      try {
        transport.judgePorts(ip, from, to);
      } catch (error) {
        throw plain(error);
      }
    },
  };
}

/** The same verdict with a message that reveals nothing about this network. */
function plain(error: unknown): unknown {
  if (!(error instanceof NetworkFault)) return error;
  const { verdict, peerAnswered } = error;
  const detail = peerAnswered === undefined ? {} : { peerAnswered };
  if (verdict === "misconfigured") return new NetworkFault(verdict, REFUSED, detail);
  if (verdict === "unresolved") return new NetworkFault(verdict, NO_ADDRESS, detail);
  return verdict === "unfit" ? new NetworkFault(verdict, RESOLVER_TROUBLE, detail) : error;
}
