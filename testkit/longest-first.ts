/** The order of test files: a long one that begins last keeps a worker busy while the others have nothing left to do. */
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Those that took longest in a whole run on two cores, longest first; the others come after them, larger files first. */
const LONGEST: readonly string[] = [
  "api/server-node",
  "api/server",
  "engine/linear-time",
  "api/servers-hostile",
  "api/matrix",
  "api/servers-streams",
  "engine/protocols/ikev2/hostile",
  "api/monitors/draft",
  "engine/probes/openvpn",
  "engine/probes/wireguard",
  "engine/probes/ikev2",
  "store/sql/db/sqlite",
  "engine/protocols/keys/pkcs12",
  "engine/protocols/ikev2/config",
  "engine/protocols/openconnect/hostile",
  "engine/protocols/dns/message",
  "engine/transport/key-exchange",
  "engine/protocols/http/content-coding",
  "test/docs/pages",
  "test/contract/schemathesis",
  "test/faults/sink-crash",
  "test/e2e/start",
  "test/e2e/terminal",
  "test/e2e/locations",
  "test/fuzz/fuzz",
  "test/web/page",
  "test/store/results-retention",
  "test/store/postgres",
  "test/e2e/bulk",
  "test/e2e/webhooks",
  "test/pool",
  "test/e2e/uptime-apart",
  "test/faults/stores",
  "test/lab/bulk-links",
  "test/faults/quarantine",
  "test/store/control-plane-crash",
  "test/e2e/check",
  "test/contract/stores",
  "test/lab/ikev2",
  "test/lab/proxy",
  "test/e2e/uptime-embedded",
  "test/e2e/subscriptions-embedded",
  "test/lab/taken-over",
  "test/lab/proxy-product",
  "test/guard-vectors/guard-vectors",
  "test/e2e/systemd-units",
  "test/e2e/uptime-servers",
  "test/contract/clients",
  "test/faults/webhooks",
  "test/e2e/admin-embedded",
  "test/web/telling",
  "test/guard-rails",
  "test/store/embedded-child",
  "test/e2e/admin-servers",
  "test/faults/hostile-targets",
  "test/lab/wireguard",
  "test/e2e/rolling-restart",
  "test/store/move",
  "test/lab/share-links",
  "test/lab/core-supervisor",
  "test/faults/jobs-crash",
  "test/e2e/tunnels",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.indexOf(relative(this.ctx.config.root, moduleId).replace(/\.test\.ts$/, ""));
      return at < 0 ? LONGEST.length : at;
    };
    const group = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    return sorted.sort((a, b) => group(a) - group(b) || rank(a) - rank(b));
  }
}
