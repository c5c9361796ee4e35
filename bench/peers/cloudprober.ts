import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { FIRST_HOST, type Peer } from "./peer.ts";
import { programPeer } from "./program.ts";

export const CLOUDPROBER: Peer = programPeer({
  source: {
    name: "cloudprober",
    module: "github.com/cloudprober/cloudprober",
    version: "v0.14.4",
    mainPackage: "github.com/cloudprober/cloudprober/cmd",
  },
  what: "schedules and exports; stores nothing, has no verdict rules",
  words({ folder, targetPort, port, options }) {
    const endpoints = Array.from(
      { length: options.targets },
      (_, n) => `    endpoint { name: "t${n}" url: "http://${FIRST_HOST}:${targetPort}/${n}" }`,
    );
    const probe = [
      "probe {",
      '  name: "bench"',
      "  type: HTTP",
      "  targets {",
      ...endpoints,
      "  }",
      "  interval_msec: 1000",
      "  timeout_msec: 900",
      "}",
    ];
    const settings = join(folder, "settings.cfg");
    writeFileSync(settings, `${probe.join("\n")}\nport: ${port}\nsurfacer { type: PROMETHEUS }\n`);
    return ["--config_file", settings, "--logtostderr=false"];
  },
  warmUpS: () => 15,
});
