/** `sonde api`: the API alone, as many processes as are wanted, over stores that they share. */
import type { Command } from "commander";
import { bannerOf } from "../banner.ts";
import { loadOwnConfig } from "../own-config.ts";
import { stopOnSignal } from "../stop.ts";

export function addApi(program: Command): void {
  program
    .command("api")
    .description("serve the API alone: needs PostgreSQL, Redis and ClickHouse; checks run in other roles")
    .addHelpText(
      "after",
      [
        "\nAny number of them answer behind one address: limits, quotas, keys and heartbeats are shared.",
        "SIGTERM: refuses new connections and ends what is being answered.",
        "\nExample:",
        "  SONDE_DATABASE_URL=postgres://… SONDE_REDIS_URL=redis://… SONDE_CLICKHOUSE_URL=http://… \\",
        "    SONDE_SEALING_KEY_FILE=/etc/sonde/sealing.key SONDE_BASE_URL=https://sonde.example sonde api",
        "",
      ].join("\n"),
    )
    .action(serve);
}

async function serve(): Promise<void> {
  const config = loadOwnConfig("contract");
  const { startApiRole } = await import("../../roles/api.ts");
  const { createLog } = await import("../../log.ts");
  const api = await startApiRole(config, createLog(config.logLevel, "api"));
  const stopped = stopOnSignal(api.close);
  process.stdout.write(bannerOf(api, config, process.stdout.isTTY));
  await stopped;
}
