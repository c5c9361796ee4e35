/** `sonde checker`: probers of one location, as a process of their own. */
import { join } from "node:path";
import type { Command } from "commander";
import { CommandError } from "../command.ts";
import { loadOwnConfig } from "../own-config.ts";
import { stopOnSignal } from "../stop.ts";

interface Options {
  readonly location: string;
  readonly key?: string;
  readonly name?: string;
  readonly metrics?: string;
}

export function addChecker(program: Command): void {
  program
    .command("checker")
    .description("check from one location, for schedulers elsewhere: needs Redis and the location's key, no database")
    .requiredOption("--location <code>", "its location: any, or a country such as de")
    .option(
      "--key <file>",
      "the location's key (otherwise the credential location.key of systemd, else location-<code>.key in SONDE_DATA_DIR)",
    )
    .option("--name <name>", "its name in results (otherwise the machine's name)")
    .option("--metrics <host:port>", "serve /metrics and /health there, such as 127.0.0.1:9465")
    .addHelpText(
      "after",
      [
        "\nThe operator makes the location, its key and its Redis user with `sonde admin location add de`.",
        "SIGTERM: takes nothing more, ends what runs, and hands back the rest.",
        "\nExamples:",
        "  SONDE_REDIS_URL=redis://sonde-de:secret@redis.internal sonde checker --location de",
        "  sonde checker --location any --key /etc/sonde/any.key --metrics 127.0.0.1:9465",
        "",
      ].join("\n"),
    )
    .action(serve);
}

async function serve({ location, key, name, metrics }: Options): Promise<void> {
  if (!/^(any|[a-z]{2})$/.test(location)) {
    throw new CommandError("--location must be any or a lowercase country, such as de");
  }
  const config = loadOwnConfig();
  const { startCheckerRole } = await import("../../roles/checker.ts");
  const { parseListen } = await import("../../roles/listener.ts");
  const { createLog } = await import("../../log.ts");
  const listen = metrics === undefined ? null : (parseListen(metrics) ?? null);
  if (metrics !== undefined && listen === null) {
    throw new CommandError("--metrics must be an address and a port, such as 127.0.0.1:9465");
  }
  const role = await startCheckerRole(config, {
    location,
    keyFile: key ?? config.locationKeyFile ?? join(config.dataDir, `location-${location}.key`),
    name: name ?? null,
    listen,
    log: createLog(config.logLevel, "checker"),
  });
  const where = role.port === null ? "" : `; metrics on port ${role.port}`;
  const stopped = stopOnSignal(role.close);
  process.stdout.write(`Sonde checks from ${location} as ${role.name}${where}\n`);
  await stopped;
}
