/** A FIFO that blocks every process that opens it for reading, in the system call, until it is released. */
import { execFileSync } from "node:child_process";
import { closeSync, constants, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Gate {
  readonly path: string;
  /** The processes of those that test/fixtures/hang-on-connect.mjs held, in their order. */
  hits(): readonly number[];
  /** Lets go of every process, also of those that connect from now on. */
  release(): void;
  close(): void;
}

/** @param folder of the test, which removes it */
export function openGate(folder: string): Gate {
  const path = join(folder, "gate");
  execFileSync("mkfifo", [path]);
  let held: number | undefined;
  return {
    path,
    hits: () => (existsSync(`${path}.hits`) ? readFileSync(`${path}.hits`, "utf8").trim().split("\n").map(Number) : []),
    release() {
      held ??= openSync(path, constants.O_RDWR);
    },
    close() {
      if (held !== undefined) closeSync(held);
      held = undefined;
    },
  };
}
