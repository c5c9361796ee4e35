/** The first Child SA: addresses inside the tunnel, selectors, keys of its packets (RFC 7296 sections 2.9, 2.17, 2.19). Pure. */
import { NetworkFault } from "../../net/fault.ts";
import { formatIpv6 } from "../../net/ip.ts";
import type { Prf } from "./algorithms.ts";
import {
  ATTRIBUTE,
  type Attribute,
  covers,
  decodeConfigurationReply,
  decodeSelectors,
  type Selector,
} from "./bodies.ts";
import { EspReceiver, EspSender } from "./esp.ts";
import { deriveChildKeys } from "./keys.ts";
import { bodyOf, PAYLOAD, type Payload, requiredBody } from "./message.ts";
import { chosenChildSuite } from "./proposals.ts";

export interface Child {
  readonly sender: EspSender;
  readonly receiver: EspReceiver;
  /** Own addresses in the tunnel, canonical text. */
  readonly addresses: readonly string[];
  readonly dns: readonly string[];
  /** Where packets may go to. */
  readonly reaches: readonly Selector[];
}

/** Of how many addresses and name servers we take note. */
const ADDRESS_LIMIT = 16;

/** @throws IkeFormatError, NetworkFault when we get no address */
export function readChild(
  payloads: readonly Payload[],
  ourSpi: Buffer,
  derive: { readonly prf: Prf; readonly key: Buffer; readonly nonces: Buffer },
  random: (sizeBytes: number) => Uint8Array,
): Child {
  const chosen = chosenChildSuite(requiredBody(payloads, PAYLOAD.sa, "tunnel"));
  const ours = decodeSelectors(requiredBody(payloads, PAYLOAD.selectorInitiator, "selectors"));
  const reaches = decodeSelectors(requiredBody(payloads, PAYLOAD.selectorResponder, "selectors"));
  const attributes = decodeConfigurationReply(bodyOf(payloads, PAYLOAD.configuration) ?? NO_CONFIGURATION);
  const assigned = addressesIn(attributes, ATTRIBUTE.ipv4Address, ATTRIBUTE.ipv6Address);
  const addresses = assigned.length > 0 ? assigned : onlyAddresses(ours);
  if (addresses.length === 0)
    throw new NetworkFault("misconfigured", "The gateway assigned no address inside the tunnel");
  const [outward, inward] = deriveChildKeys(derive.prf, derive.key, derive.nonces, chosen);
  return {
    sender: new EspSender(outward, chosen.spi, random),
    receiver: new EspReceiver(inward, ourSpi),
    addresses: addresses.map(textOf),
    dns: addressesIn(attributes, ATTRIBUTE.ipv4Dns, ATTRIBUTE.ipv6Dns).map(textOf),
    reaches,
  };
}

/** Whether the gateway lets a packet for this address through. */
export function isReached({ reaches }: Pick<Child, "reaches">, address: Buffer): boolean {
  return reaches.some((selector) => covers(selector, address));
}

/** A request, which is no reply: assigns nothing. */
const NO_CONFIGURATION = Buffer.from([1, 0, 0, 0]);

/** An IPv6 address comes with its prefix length behind it (RFC 7296 section 3.15.1). */
function addressesIn(attributes: readonly Attribute[], ipv4: number, ipv6: number): readonly Buffer[] {
  return attributes
    .flatMap(({ type, value }) => {
      if (type === ipv4 && value.length === 4) return [value];
      return type === ipv6 && (value.length === 16 || value.length === 17) ? [value.subarray(0, 16)] : [];
    })
    .filter((address) => address.some((byte) => byte !== 0))
    .slice(0, ADDRESS_LIMIT);
}

/** A gateway that assigns nothing may have narrowed our side to the one address it expects. */
function onlyAddresses(ours: readonly Selector[]): readonly Buffer[] {
  return ours
    .filter(({ first, last }) => first.equals(last))
    .map(({ first }) => first)
    .slice(0, ADDRESS_LIMIT);
}

function textOf(address: Buffer): string {
  if (address.length === 4) return address.join(".");
  const word = (index: number): number => address.readUInt32BE(4 * index);
  return formatIpv6([word(0), word(1), word(2), word(3)]);
}
