/**
 * The scheduler's thread: opens its own stores, replays what a crash left behind, and runs the loop on the shards that it takes, until the
 * main thread stops it.
 */
import type { MessagePort } from "node:worker_threads";
import type { SchedulerTask } from "../../engine/pool/pool.ts";
import { createLog } from "../../log.ts";
import { type SchedulerData, SchedulerRuntime } from "./runtime.ts";
import type { FromScheduler, ToScheduler } from "./status.ts";

/** Called by engine/pool/pool.ts. Resolves after a stop. */
export async function task({ control, engine, data }: SchedulerTask): Promise<void> {
  const settings = data as SchedulerData;
  const { port } = settings;
  try {
    const runtime = await SchedulerRuntime.open({
      settings,
      control,
      engine,
      log: createLog(settings.logLevel, "scheduler"),
    });
    await runtime.start();
    await stopOrder(port);
    await runtime.stop();
    post(port, { type: "stopped" });
    port.close();
  } catch (error) {
    post(port, { type: "failed", message: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

function stopOrder(port: MessagePort): Promise<void> {
  return new Promise((resolve) => {
    port.on("message", (message: ToScheduler) => {
      if (message.type === "stop") resolve();
    });
  });
}

function post(port: MessagePort, message: FromScheduler): void {
  port.postMessage(message);
}
