/** Ourselves, beside the peers: the whole product with its embedded stores, monitors created through the API. */
import { startServiceUnderTest } from "../uptime/service.ts";
import { targetNets } from "../uptime/target-address.ts";
import { createMonitors } from "../uptime/uptime.ts";
import type { Peer } from "./peer.ts";

/** After the last monitor was created, s. */
const WARM_UP_S = 10;

export const SONDE_ITSELF: Peer = {
  name: "sonde",
  what: "schedules, judges, stores every result in its embedded ClickHouse; memory has the engine in it",
  prepare: async () => ({
    async start({ targetPort, options }) {
      const service = await startServiceUnderTest(targetNets(targetPort));
      let isUp = true;
      await createMonitors(service.client, targetPort, { monitors: options.targets, intervalS: 1 });
      return {
        pid: service.pid,
        warmUpS: WARM_UP_S,
        isUp: () => isUp,
        async stop() {
          isUp = false;
          await service.stop();
        },
      };
    },
  }),
};
