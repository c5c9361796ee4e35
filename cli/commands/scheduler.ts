/** `sonde scheduler`: plans and judges checks that run elsewhere; several share the work by shards. */
import type { Command } from "commander";
import { CommandError } from "../command.ts";
import { loadOwnConfig } from "../own-config.ts";
import { stopOnSignal } from "../stop.ts";

export function addScheduler(program: Command): void {
  program
    .command("scheduler")
    .description("plan and judge checks that checkers run: needs PostgreSQL, Redis and ClickHouse")
    .option("--metrics <host:port>", "serve /metrics and /health there, such as 127.0.0.1:9464")
    .addHelpText(
      "after",
      [
        "\nSeveral share the monitors among them; when one dies the others take over within its lease.",
        "Each needs a data folder of its own, for results that wait for ClickHouse.",
        "SIGTERM: hands its monitors over and writes everything down.",
        "\nExample:",
        "  SONDE_DATABASE_URL=postgres://… SONDE_REDIS_URL=redis://… SONDE_CLICKHOUSE_URL=http://… \\",
        "    SONDE_SEALING_KEY_FILE=/etc/sonde/sealing.key SONDE_DATA_DIR=/var/lib/sonde-1 sonde scheduler",
        "",
      ].join("\n"),
    )
    .action(({ metrics }: { metrics?: string }) => serve(metrics));
}

async function serve(metrics: string | undefined): Promise<void> {
  const config = loadOwnConfig("contract");
  const { startSchedulerRole } = await import("../../roles/scheduler.ts");
  const { parseListen } = await import("../../roles/listener.ts");
  const { createLog } = await import("../../log.ts");
  const listen = metrics === undefined ? null : (parseListen(metrics) ?? null);
  if (metrics !== undefined && listen === null) {
    throw new CommandError("--metrics must be an address and a port, such as 127.0.0.1:9464");
  }
  const role = await startSchedulerRole(config, { listen, log: createLog(config.logLevel, "main") });
  const where = role.port === null ? "" : `; metrics on port ${role.port}`;
  const stopped = stopOnSignal(role.close);
  process.stdout.write(`Sonde schedules on ${role.name}${where}\n`);
  await stopped;
}
