/** How a role ends: drains on the first SIGTERM or Ctrl-C, and at once on the second. */
import { CommandError, INTERRUPTED } from "./command.ts";

/** One Ctrl-C under `npm start` arrives twice, from the terminal and from npm: what follows within this is the same one, ms. */
const SAME_SIGNAL_MS = 1_000;

/** Resolves when the service has drained. */
export function stopOnSignal(close: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let askedAtMs: number | undefined;
    const stop = (): void => {
      const nowMs = performance.now();
      if (askedAtMs !== undefined) {
        if (nowMs - askedAtMs > SAME_SIGNAL_MS) process.exit(INTERRUPTED);
        return;
      }
      askedAtMs = nowMs;
      process.stderr.write("stopping: letting checks end and writing everything down …\n");
      close().then(resolve, (error: unknown) => reject(new CommandError(`stopping failed: ${String(error)}`)));
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
  });
}
