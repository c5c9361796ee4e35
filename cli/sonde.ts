#!/usr/bin/env node
/** The command line. Exit code 0 only when the command did what it was asked, and a check passed. */
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { VERSION } from "../version.ts";
import { CommandError, READER_GONE } from "./command.ts";
import { commands } from "./commands/index.ts";

/** What runs until it is stopped. */
const SERVICES: readonly string[] = ["up", "api", "scheduler", "checker"];

if (SERVICES.includes(process.argv[2] ?? "")) {
  const { boundYoungHeap } = await import("../native/young-heap.ts");
  boundYoungHeap(fileURLToPath(import.meta.url));
}

const program = new Command("sonde")
  .description("Watches VPN tunnels and uptime targets: checks on schedule, history and incidents behind a REST API.")
  .version(VERSION)
  .showHelpAfterError("(add --help for its arguments and options)")
  .addHelpText(
    "after",
    "\nExamples:\n  sonde check https://example.org/\n  sonde up\n  sonde add https://example.org/ --interval 30\n\nexample.org stands for an address of yours: it is refused itself.\n",
  );
for (const [heading, group] of Object.entries(commands)) {
  program.commandsGroup(heading);
  for (const add of group) add(program);
}
program.commandsGroup("Help:").helpCommand("help [command]", "show the help of a command");

/** Errors whose message already says what to do; anything else, a value that a store refuses too, is our own mistake and shows where. */
const PLAIN_ERRORS = new Set([
  "CommandError",
  "ConfigError",
  "StoreError",
  "StartError",
  "AllowNetError",
  "CanaryError",
  "ResolverEntryError",
  "TunnelTargetError",
  "VerifyUrlError",
  "ListenError",
  "ForeignDataError",
]);

/** How long what a failure left open may keep the process, ms: a supervisor waits for its end. */
const END_WITHIN_MS = 1_000;

function endSoon(): void {
  const timer = setInterval(() => {
    if (process.stdout.writableLength === 0) process.exit();
  }, END_WITHIN_MS);
  timer.unref();
}

// `sonde … | head`: the reader has enough and closes the pipe. Of a full disk the code says enough: neither is a fault that needs a stack.
process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  if (code === "EPIPE") process.exit(READER_GONE);
  process.stderr.write(`sonde: the output cannot be written (${code ?? message})\n`);
  process.exit(1);
});

try {
  await program.parseAsync(process.argv);
} catch (error) {
  const isPlain =
    error instanceof Error && PLAIN_ERRORS.has(error.name) && !("kind" in error && error.kind === "refused");
  const words = isPlain ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
  // It may repeat a link, a file or an answer, which come from others.
  const { plainLines } = await import("./table.ts");
  process.stderr.write(`sonde: ${plainLines(words)}\n`);
  process.exitCode = error instanceof CommandError ? error.exitCode : 1;
  endSoon();
}
