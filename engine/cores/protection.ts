/** How the cores are confined on this machine, as text for the operator. */
import { type Hold, holdHere, refusalsHere } from "../../native/sandbox/confined.ts";
import { landlockPowers } from "../../native/sandbox/landlock.ts";
import { boundsWith, triedBroker } from "./core-broker.ts";
import { type Bounds, isHeld } from "./core-process.ts";

export interface Protection {
  /** One line: what is in force. */
  readonly words: string;
  /** Files, addresses and signals are held back. */
  readonly isWhole: boolean;
  /** What would make it so; empty when it is. */
  readonly advice: string;
}

const NO_HOLD =
  "a core that a server takes over can read what Sonde can: run Sonde on 64-bit Linux where programs may be started from memory (sysctl vm.memfd_noexec below 2)";
const NO_LANDLOCK =
  "a core that a server takes over can read this user's files: run Sonde on Linux 5.13 or later with Landlock (CONFIG_SECURITY_LANDLOCK, and landlock among the lsm= of the kernel's command line)";
const NO_PORTS = "a core can connect to any port: Linux 6.7 or later holds it to those of its configs";
const NO_BROKER =
  "a core that a server takes over can connect to other addresses: its connections cannot be made for it here";
const NO_SECCOMP = "a core's system calls are not filtered: allow seccomp to this container";

/** Tries the broker. */
export async function protectionHere(): Promise<Protection> {
  const broker = await triedBroker();
  const [bounds = "loose"] = boundsWith(broker);
  const described = protectionOf(bounds, holdHere(), landlockPowers()?.hasTcp ?? false);
  const refusals = [...refusalsHere().slice(0, 1), ...(typeof broker === "string" ? [broker] : [])];
  return refusals.length === 0 ? described : { ...described, advice: `${described.advice} (${refusals.join("; ")})` };
}

/** @param hasTcp whether Landlock here knows ports */
export function protectionOf(bounds: Bounds, hold: Hold | null, hasTcp: boolean): Protection {
  if (hold === null || !isHeld(bounds)) {
    const left = { "own-user": "a user of their own, no new privileges", bound: "no new privileges" };
    const has = bounds === "own-user" || bounds === "bound" ? left[bounds] : "nothing holds them";
    return { words: `cores: ${has}; network: anything`, isWhole: false, advice: NO_HOLD };
  }
  const { landlock, seccomp } = hold;
  const isBrokered = bounds.startsWith("brokered");
  const parts = [
    ...(landlock > 0 ? [`landlock ${landlock} ${hasTcp ? "files+tcp" : "files"}`] : []),
    ...(seccomp ? ["seccomp"] : []),
    "no new privileges",
    ...(bounds.endsWith("own-user") ? ["a user of their own"] : []),
  ];
  const advice = [
    ...(landlock === 0 ? [NO_LANDLOCK] : hasTcp || isBrokered ? [] : [NO_PORTS]),
    ...(seccomp ? [] : [NO_SECCOMP]),
    ...(isBrokered ? [] : [NO_BROKER]),
  ].join("; ");
  const network = isBrokered ? BROKERED : networkOf(landlock > 0 && hasTcp, seccomp);
  return { words: `cores: ${parts.join(", ")}; network: ${network}`, isWhole: advice === "", advice };
}

const BROKERED = "their servers' addresses and ports alone";

function networkOf(hasPorts: boolean, hasSeccomp: boolean): string {
  const tcp = hasPorts ? "tcp to their servers' ports at any address" : "tcp to anything";
  return `${tcp}, ${hasSeccomp ? "udp only where a config needs it" : "udp to anything"}`;
}
