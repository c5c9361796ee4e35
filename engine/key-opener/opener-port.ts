/** A prober's way to the process that opens foreign keys. */
import type { MessagePort } from "node:worker_threads";
import { connectBounded } from "../bounded/bounded-port.ts";
import type { ForeignKey, KeyAnswer, KeyOpener } from "./key-opener.ts";

/** @param port whose other end the opener has (opener-process.ts, connect) */
export function connectKeyOpener(port: MessagePort): KeyOpener {
  return { open: connectBounded<ForeignKey, KeyAnswer>(port) };
}
