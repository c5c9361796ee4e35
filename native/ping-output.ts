/** What the system's `ping` prints in the C locale: iputils and BusyBox. Pure; its text is foreign. */

export interface PingOutput {
  /** From the closing line; null when there is none. */
  readonly transmitted: number | null;
  /** In the order they came, duplicates left out. */
  readonly roundTripsMs: readonly number[];
  readonly problem: PingOutputProblem | null;
}

/** `not-permitted`: this `ping` may not open a socket either. */
export type PingOutputProblem = "host-unreachable" | "network-unreachable" | "not-permitted";

/** A line is longer only when something is wrong. */
const LINE_LENGTH = 512;
const LINES = 1_024;

/** `64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.042 ms`; BusyBox says `seq=0`; below a resolution `time<1 ms`. */
const SEQUENCE = /\b(?:icmp_)?seq=(\d{1,5}) /;
const TIME = /\btime[=<](\d{1,9}(?:\.\d{1,6})?) ?ms\b/;
/** `3 packets transmitted, 3 received, 0% packet loss, time 402ms` */
const SUMMARY = /^(\d{1,9}) packets transmitted\b/;
/** `From 192.0.2.1 icmp_seq=1 Destination Host Unreachable`; iputils also words codes it has no name for this way. */
const UNREACHABLE =
  /\bDestination (?:Host|Port|Protocol) (?:Unreachable|Prohibited)|\bDestination unreachable: (?!No route)|\bTime (?:to live )?exceeded|\bPacket filtered/i;
const NETWORK_UNREACHABLE =
  /\bDestination Net(?:work)? (?:Unreachable|Prohibited)|Network is unreachable|unreachable: No route/i;
const NOT_PERMITTED = /Operation not permitted|Permission denied|are you root|missing cap_net_raw/i;

export function parsePingOutput(text: string): PingOutput {
  const replies = new Map<number, number>();
  let transmitted: number | null = null;
  let problem: PingOutputProblem | null = null;
  for (const line of text.split("\n", LINES)) {
    const short = line.slice(0, LINE_LENGTH);
    const numbered = SEQUENCE.exec(short);
    const timed = numbered === null ? null : TIME.exec(short.slice(numbered.index));
    if (numbered !== null && timed !== null) {
      const sequence = Number(numbered[1]);
      // Of a duplicate the first counts.
      if (!replies.has(sequence)) replies.set(sequence, Number(timed[1]));
      continue;
    }
    const summary = SUMMARY.exec(short);
    if (summary !== null) transmitted = Number(summary[1]);
    problem ??= problemOf(short);
  }
  return { transmitted, roundTripsMs: [...replies.values()], problem };
}

function problemOf(line: string): PingOutputProblem | null {
  if (NETWORK_UNREACHABLE.test(line)) return "network-unreachable";
  if (UNREACHABLE.test(line) || /No route to host/.test(line)) return "host-unreachable";
  return NOT_PERMITTED.test(line) ? "not-permitted" : null;
}
