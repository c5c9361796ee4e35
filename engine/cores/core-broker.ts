/** The broker of this process' cores: one thread for all of them, started when it is first needed, and anew when it has died. */
import { type BrokerService, startBroker } from "../../native/sandbox/broker-service.ts";
import { type Bounds, boundsHere, isRoot, OWN_ID } from "./core-process.ts";

/** A broker that could not be had is not tried again sooner, ms. */
const TRY_AGAIN_MS = 60_000;

let current: { readonly broker: Promise<BrokerService | string>; readonly sinceMs: number } | undefined;

/** @param threadFile where its code lies, for those who run other files than the built ones. @returns why there is none */
export async function brokerHere(threadFile?: URL): Promise<BrokerService | string> {
  const before = current;
  const known = await before?.broker;
  if (current === before && (known === undefined || isSpent(known, before?.sinceMs ?? 0))) {
    current = { broker: start(threadFile), sinceMs: performance.now() };
  }
  return current?.broker ?? "no broker";
}

/**
 * Whether there can be one here. A service that never starts a core does not keep its thread, which takes 9 MiB, so where there is no broker yet
 * one is started, tried and ended.
 * @returns one, ended or not; why there can be none
 */
export async function triedBroker(): Promise<BrokerService | string> {
  if (current !== undefined) return brokerHere();
  const tried = await start();
  if (typeof tried !== "string") await tried.close();
  return tried;
}

function start(threadFile?: URL): Promise<BrokerService | string> {
  const ownId = isRoot() ? OWN_ID : null;
  const broker = startBroker({ ownId, ...(threadFile !== undefined && { threadFile }) });
  return broker.catch((error: unknown) => String(error));
}

function isSpent(known: BrokerService | string, sinceMs: number): boolean {
  return typeof known === "string" ? performance.now() - sinceMs > TRY_AGAIN_MS : !known.isAlive;
}

/** What can be tried here, the tightest first. @param broker what brokerHere() said */
export function boundsWith(broker: BrokerService | string): readonly Bounds[] {
  if (typeof broker === "string") return boundsHere();
  return [isRoot() ? "brokered-own-user" : "brokered", ...boundsHere()];
}
