/**
 * The child process: the embedded engine behind ClickHouse's HTTP interface on loopback.
 *
 * stdin: one line of JSON (FrontConfig), then nothing; its end is the order to stop, and it also ends when the parent dies.
 * stdout: lines of JSON (FrontEvent). stderr: the engine's own words, which its errors often lack.
 */
import { statfsSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { hideFromOthers } from "../../../native/sandbox/own-process.ts";
import { giveBackStartPages } from "../../../native/start-pages.ts";
import { claimDataFolder } from "../../data-folder.ts";
import { layBallast } from "./ballast.ts";
import type { Engine } from "./engine.ts";
import { createHttpInterface } from "./http-interface.ts";
import type { Statement } from "./statement.ts";

export interface FrontConfig {
  readonly dir: string;
  /** 0: any. */
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly maxMemoryBytes: number;
  readonly ballastBytes: number;
  /** Other processes of our user may look into this one. */
  readonly isDebuggable: boolean;
}

export type FrontEvent =
  /** Its port takes connections; they are answered once it is ready. */
  | { readonly type: "listening"; readonly port: number }
  | { readonly type: "ready" }
  /** It cannot start: one line for the operator. */
  | { readonly type: "failed"; readonly reason: string; readonly code: string }
  | { readonly type: "disk"; readonly isFull: boolean; readonly freeBytes: number };

/** Each slow read blocks one connection. */
const READ_CONNECTIONS = 3;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** How often we look whether a full disk has room again, ms. */
const ROOM_EVERY_MS = 1_000;
/** How often the engine is pinged, ms. After so many looks without an answer it hangs, and only a new process helps. */
const PULSE_EVERY_MS = 5_000;
const DEAD_AFTER_LOOKS = 6;
/** Inserts that run may end within this, ms, when we stop. */
const STOP_MS = 600;

function tell(event: FrontEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

async function main(): Promise<void> {
  // A terminal's Ctrl-C and a service manager's SIGTERM go to the whole group; our parent still drains into us and then ends stdin.
  process.on("SIGINT", () => undefined);
  process.on("SIGTERM", () => undefined);
  process.stdout.on("error", endNow);
  const input = createInterface({ input: process.stdin });
  let stop = endNow;
  input.once("close", () => stop());
  const config = await new Promise<FrontConfig>((resolve) => {
    input.once("line", (line) => resolve(JSON.parse(line) as FrontConfig));
  });
  if (!config.isDebuggable) hideFromOthers();
  try {
    await serve(config, (stopInOrder) => {
      stop = stopInOrder;
    });
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    tell({ type: "failed", reason: error instanceof Error ? error.message : String(error), code });
    endNow();
  }
}

async function serve(config: FrontConfig, onStop: (stop: () => void) => void): Promise<void> {
  const { dir } = config;
  claimDataFolder(dir);
  const ballast = layBallast(dir, config.ballastBytes);
  const tellDisk = () => tell({ type: "disk", isFull: ballast.isFreed, freeBytes: freeBytesOf(dir) });
  let roomTimer: NodeJS.Timeout | undefined;
  const lookForRoom = (): void => {
    if (ballast.restore()) tellDisk();
    if (ballast.isFreed) roomTimer = setTimeout(lookForRoom, ROOM_EVERY_MS);
  };
  if (ballast.isFreed) {
    tellDisk();
    lookForRoom();
  }
  let inserts = 0;
  let setEngine: (engine: Engine) => void = () => undefined;
  const opened = new Promise<Engine>((resolve) => {
    setEngine = resolve;
  });

  async function run(statement: Statement, body: Buffer, signal: AbortSignal) {
    const isInsert = statement.kind === "write";
    if (isInsert && ballast.isFreed)
      throw new Error(
        "Code: 243. DB::Exception: The disk is full: inserts wait until there is room. (NOT_ENOUGH_SPACE)",
      );
    if (isInsert) inserts += 1;
    try {
      return await (await opened).run(statement, body, signal);
    } catch (error) {
      if (ballast.onError(error instanceof Error ? error.message : String(error))) {
        tellDisk();
        lookForRoom();
      }
      throw error;
    } finally {
      if (isInsert) inserts -= 1;
    }
  }

  const server = createHttpInterface({ ...config, maxBodyBytes: MAX_BODY_BYTES, run });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(config.port, "127.0.0.1", resolve);
  });
  // The port first: the parent starts everything else while the engine loads, which takes half a second.
  tell({ type: "listening", port: (server.address() as AddressInfo).port });
  const engine = await loadEngine(config);
  setEngine(engine);
  const stopPulse = keepPulse(engine);
  onStop(() => {
    clearTimeout(roomTimer);
    stopPulse();
    server.close();
    void stopAfter(() => inserts);
  });
  tell({ type: "ready" });
  giveBackStartPages();
}

async function loadEngine({ dir, database, maxMemoryBytes }: FrontConfig): Promise<Engine> {
  const { openEngine } = await import("./engine.ts");
  return openEngine({ dir, database, readConnections: READ_CONNECTIONS, maxMemoryBytes });
}

/** Counts looks and not time, so that a freeze of the whole machine counts as one late look. */
function keepPulse(engine: Engine): () => void {
  let looks = 0;
  let isAsked = false;
  const timer = setInterval(() => {
    looks = isAsked ? looks + 1 : 0;
    if (looks >= DEAD_AFTER_LOOKS) {
      process.stderr.write("the engine does not answer, its process ends\n");
      process.kill(process.pid, "SIGKILL");
    }
    if (isAsked) return;
    isAsked = true;
    const heard = () => {
      isAsked = false;
    };
    engine.pulse().then(heard, heard);
  }, PULSE_EVERY_MS);
  return () => clearInterval(timer);
}

/** Inserts get a moment; one that does not end is sent again after the next start. What was written is in files. */
async function stopAfter(inserts: () => number): Promise<void> {
  const until = performance.now() + STOP_MS;
  while (inserts() > 0 && performance.now() < until) await pause(5);
  endNow();
}

/** An exit waits for what runs in the engine, and destroys what the library's threads still use: some of them crashed. */
function endNow(): void {
  process.kill(process.pid, "SIGKILL");
}

function freeBytesOf(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

await main();
