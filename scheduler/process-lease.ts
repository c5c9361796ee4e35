/** A lease keeper of this process, or of one of its threads. */
import { hostname } from "node:os";
import type { ControlPlane } from "../store/sql/control-plane/port.ts";
import { SYSTEM_CLOCKS } from "./clock.ts";
import { LeaseKeeper } from "./lease.ts";

/** @param uuid new for each keeper: numbers of processes are used again */
export function processLease(
  { leases, dialect }: Pick<ControlPlane, "leases" | "dialect">,
  name: string,
  uuid: string,
): LeaseKeeper {
  const holder = `${hostname()} ${process.pid} ${uuid}`;
  const { monotonicNowMs } = SYSTEM_CLOCKS;
  return new LeaseKeeper({ leases, name, holder, isSoleOwner: dialect === "sqlite", monotonicNowMs });
}
