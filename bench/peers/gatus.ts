import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { FIRST_HOST, type Peer, type Site } from "./peer.ts";
import { programPeer } from "./program.ts";

/** Seconds between the first checks of two endpoints: Gatus spreads them. */
const STEP_S = 0.222;

export const GATUS_IN_MEMORY: Peer = gatus("in memory", () => ["storage:", "  type: memory"]);

export const GATUS_ON_SQLITE: Peer = gatus("on SQLite", ({ folder }) => [
  "storage:",
  "  type: sqlite",
  `  path: ${JSON.stringify(join(folder, "gatus.db"))}`,
  "  caching: true",
]);

function gatus(way: string, storage: (site: Site) => readonly string[]): Peer {
  return programPeer({
    source: {
      name: "gatus",
      module: "github.com/TwiN/gatus/v5",
      version: "v5.36.0",
      mainPackage: "github.com/TwiN/gatus/v5",
    },
    way,
    what: "schedules, judges, keeps 100 results of each; a tenth of the targets ten times a second, since its endpoints start 222 ms apart",
    words(site) {
      const endpoints = Array.from({ length: endpointsOf(site) }, (_, n) =>
        [
          `  - name: t${n}`,
          `    url: "http://${FIRST_HOST}:${site.targetPort}/${n}"`,
          "    interval: 100ms",
          '    conditions: ["[STATUS] == 200"]',
        ].join("\n"),
      );
      const settings = [
        `web:\n  port: ${site.port}\n  address: ${FIRST_HOST}`,
        "concurrency: 1000",
        ...storage(site),
        "endpoints:",
        ...endpoints,
      ];
      writeFileSync(settingsOf(site), `${settings.join("\n")}\n`);
      return [];
    },
    env: (site) => ({ GATUS_CONFIG_PATH: settingsOf(site), GATUS_LOG_LEVEL: "ERROR" }),
    warmUpS: (site) => Math.ceil(endpointsOf(site) * STEP_S) + 3,
  });
}

function settingsOf({ folder }: Site): string {
  return join(folder, "settings.yaml");
}

/** A tenth of the targets at ten times the rate: its own ramp would take minutes. */
function endpointsOf({ options }: Site): number {
  return Math.max(1, Math.round(options.targets / 10));
}
