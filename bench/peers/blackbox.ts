import { writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { FIRST_HOST, type Peer } from "./peer.ts";
import { programPeer } from "./program.ts";

export const BLACKBOX: Peer = programPeer({
  source: {
    name: "blackbox_exporter",
    module: "github.com/prometheus/blackbox_exporter",
    version: "v0.28.0",
    mainPackage: "github.com/prometheus/blackbox_exporter",
  },
  what: "one check per request, as many as it answers; no schedule, no storage",
  words({ folder, port }) {
    const settings =
      "modules:\n  bench:\n    prober: http\n    timeout: 5s\n    http:\n      preferred_ip_protocol: ip4\n";
    const path = join(folder, "settings.yml");
    writeFileSync(path, settings);
    return ["--config.file", path, "--web.listen-address", `${FIRST_HOST}:${port}`, "--log.level", "error"];
  },
  async drive({ targetPort, port, options }, isOver) {
    const agent = new Agent({ keepAlive: true, maxSockets: options.inFlight });
    const work = async (): Promise<void> => {
      for (let n = 0; !isOver(); n++) {
        const target = encodeURIComponent(`http://${FIRST_HOST}:${targetPort}/${n % 1000}`);
        await ask(agent, `http://${FIRST_HOST}:${port}/probe?module=bench&target=${target}`);
      }
    };
    await Promise.all(Array.from({ length: options.inFlight }, work));
    agent.destroy();
  },
  warmUpS: () => 3,
});

function ask(agent: Agent, url: string): Promise<void> {
  return new Promise((resolve) => {
    get(url, { agent }, (response) => response.resume().once("close", resolve)).once("error", () => resolve());
  });
}
