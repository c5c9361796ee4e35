import type { Address } from "./transport.ts";

/** The first address of each family, in their order: what a probe tries that sends datagrams and cannot race connects. */
export function onePerFamily(addresses: readonly Address[]): readonly Address[] {
  return addresses.filter(({ family }, index) => addresses.findIndex((other) => other.family === family) === index);
}
