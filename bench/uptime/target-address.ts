/** Where the target answers: on many loopback addresses, because five thousand monitors of one host would measure the cap of a host. */

const HOSTS = 50;

/** Of the nth monitor; the target listens on those of 0 to HOSTS - 1. */
export function targetHost(n: number): string {
  return `127.0.0.${1 + (n % HOSTS)}`;
}

export const TARGET_HOSTS: readonly string[] = Array.from({ length: HOSTS }, (_, n) => targetHost(n));

/** What SONDE_ALLOW_NETS must open. */
export function targetNets(port: number): string {
  return `127.0.0.0/24:${port}`;
}
