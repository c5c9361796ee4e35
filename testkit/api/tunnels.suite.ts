/** Tunnels through the API. */
import { importedMonitorsSuite } from "./imported-monitors.suite.ts";
import { tunnelChangesSuite } from "./tunnel-changes.suite.ts";
import { tunnelCreationSuite } from "./tunnel-creation.suite.ts";
import { tunnelSlotsSuite } from "./tunnel-slots.suite.ts";

export function tunnelsSuite(server: "net" | "node"): void {
  tunnelCreationSuite(server);
  tunnelChangesSuite(server);
  tunnelSlotsSuite(server);
  importedMonitorsSuite(server);
}
