/** `sonde up`: API, scheduler and checker in one process. */
import type { Command } from "commander";
import { type Config, hasDataDir } from "../../config.ts";
import type { Demo } from "../../demo/demo.ts";
import { askYes, canAsk } from "../ask.ts";
import { bannerOf, signInLine } from "../banner.ts";
import { loadOwnConfig } from "../own-config.ts";
import { stopOnSignal } from "../stop.ts";

export function addUp(program: Command): void {
  program
    .command("up")
    .description("start everything in one process on this machine")
    .option(
      "--demo",
      "bring up local targets of every kind, watch them in a data folder of its own, and show a live table",
    )
    .addHelpText(
      "after",
      "\nExamples:\n  sonde up\n  SONDE_PORT=9000 SONDE_DATA_DIR=/var/lib/sonde sonde up\n  npm start -- --demo\n",
    )
    .action(async ({ demo }: { demo?: boolean }) => up(demo === true));
}

async function up(isDemo: boolean): Promise<void> {
  const config = loadOwnConfig("off");
  const { forgetStartCode } = await import("../../native/start-code.ts");
  // Before the service is loaded: the main thread collects garbage while it loads, and seldom afterwards.
  forgetStartCode();
  // Loaded only when it is wanted: the client's commands, and settings that cannot be used, do not wait for the whole service.
  const { checkSettings } = await import("../../roles/check-settings.ts");
  await checkSettings(config);
  const { startService } = await import("../../roles/up.ts");
  const { createLog } = await import("../../log.ts");
  const demo = isDemo ? await demoOf(config) : undefined;
  const runConfig = demo?.config ?? config;
  const service = await startService(runConfig, {
    log: createLog(isDemo && process.stdout.isTTY ? "silent" : runConfig.logLevel, "main"),
    isDemo,
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  const close = async (): Promise<void> => {
    await demo?.close();
    await service.close();
  };
  // Before the banner: what reads that line may ask for the end at once, and a signal without a listener ends without draining.
  const stopped = stopOnSignal(close);
  process.stdout.write(bannerOf(service, runConfig, process.stdout.isTTY, isDemo));
  try {
    const { url, signInCode } = service;
    await demo?.watch(service, signInCode === null ? `In a browser: ${url}/` : signInLine(url, signInCode));
  } catch (error) {
    await close();
    throw error;
  }
  await stopped;
}

/** @throws ForeignDataError */
async function demoOf(config: Config): Promise<Demo> {
  const { chooseDemoData } = await import("../../demo/data-folder.ts");
  const { startDemo } = await import("../../demo/demo.ts");
  return startDemo(await chooseDemoData(config, hasDataDir(), canAsk() ? askYes : null));
}
