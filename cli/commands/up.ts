/** `sonde up`: API, scheduler and checker in one process. */
import type { Command } from "commander";
import { loadConfig } from "../../config.ts";
import { CommandError } from "../command.ts";

/** A second signal while draining ends at once; the number is the shell's for SIGINT. */
const INTERRUPTED = 130;
/** One Ctrl-C under `npm start` arrives twice, from the terminal and from npm: what follows within this is the same one, ms. */
const SAME_SIGNAL_MS = 1_000;

export function addUp(program: Command): void {
  program
    .command("up")
    .description("start everything in one process on this machine")
    .option("--demo", "bring up local targets of every kind, watch them, and show a live table")
    .addHelpText(
      "after",
      "\nExamples:\n  sonde up\n  SONDE_PORT=9000 SONDE_DATA_DIR=/var/lib/sonde sonde up\n  npm start -- --demo\n",
    )
    .action(async ({ demo }: { demo?: boolean }) => up(demo === true));
}

async function up(isDemo: boolean): Promise<void> {
  const config = loadConfig();
  // Loaded only when it is wanted: the client's commands, and settings that cannot be used, do not wait for the whole service.
  const { startService } = await import("../../main.ts");
  const { createLog } = await import("../../log.ts");
  const demo = isDemo ? await (await import("../../demo/demo.ts")).startDemo(config) : undefined;
  const runConfig = demo?.config ?? config;
  const service = await startService(runConfig, {
    log: createLog(isDemo && process.stdout.isTTY ? "silent" : runConfig.logLevel, "main"),
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  process.stdout.write(banner(service));
  const close = async (): Promise<void> => {
    await demo?.close();
    await service.close();
  };
  const stopped = stopOnSignal(close);
  try {
    await demo?.watch(service);
  } catch (error) {
    await close();
    throw error;
  }
  await stopped;
}

function banner(service: {
  url: string;
  firstKey: string | null;
  projectId: number | null;
  keyFile: string | null;
}): string {
  const lines = [`Sonde listens on ${service.url}/api/v1`];
  lines.push(`Project: prj_${service.projectId}`);
  if (service.firstKey !== null) lines.push(`Key (shown once, kept in ${service.keyFile}): ${service.firstKey}`);
  return `${lines.join("\n")}\n`;
}

/** Resolves when the service has drained after SIGTERM or Ctrl-C. */
function stopOnSignal(close: () => Promise<void>): Promise<void> {
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
