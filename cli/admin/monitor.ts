/** `sonde admin monitor`: where a monitor is checked from, and whether a partial outage alerts (contract: dashboard only). */

import type { Actor } from "../../model/actor.ts";
import { formatId } from "../../model/ids.ts";
import { isPassive } from "../../model/kind.ts";
import { ANY_LOCATION, type Monitor } from "../../model/monitor.ts";
import type { MonitorChange } from "../../store/sql/monitors/port.ts";
import { CommandError } from "../command.ts";
import { type Act, type ActGroup, type Done, flagOf, idOf, known } from "./act.ts";
import type { AdminStores } from "./stores.ts";

/** What the dashboard would do, done by the operator of the machine. */
const OPERATOR: Actor = { type: "system", id: null, name: null, via: "dashboard", keyId: null };
const MOST_LOCATIONS = 50;

const locations: Act = {
  usage: "locations <monitor> <codes>",
  summary: "check from these locations: any, or countries such as de,nl",
  example: "monitor locations srv_12 de,nl",
  run: (stores, _words, [id, text]) =>
    change(stores, id, (monitor) => {
      const chosen = codesOf(text);
      return {
        locations: chosen,
        disabledLocations: monitor.disabledLocations.filter((location) => chosen.includes(location)),
      };
    }),
};

const disable: Act = {
  usage: "disable-location <monitor> <code>",
  summary: "pause one of its locations",
  example: "monitor disable-location srv_12 nl",
  run: (stores, _words, [id, code]) =>
    change(stores, id, (monitor) => {
      const location = chosenOf(monitor, code);
      if (location === ANY_LOCATION) throw new CommandError("any cannot be paused: pause the monitor instead");
      const disabledLocations = monitor.locations.filter(
        (one) => one === location || monitor.disabledLocations.includes(one),
      );
      if (disabledLocations.length === monitor.locations.length) {
        throw new CommandError("it is its last location: pause the monitor instead");
      }
      return { disabledLocations };
    }),
};

const enable: Act = {
  usage: "enable-location <monitor> <code>",
  summary: "check from a paused location again",
  example: "monitor enable-location srv_12 nl",
  run: (stores, _words, [id, code]) =>
    change(stores, id, (monitor) => {
      const location = chosenOf(monitor, code);
      return { disabledLocations: monitor.disabledLocations.filter((one) => one !== location) };
    }),
};

const notifyPartial: Act = {
  usage: "notify-partial <monitor> <true|false>",
  summary: "whether an outage of some of its locations alerts",
  example: "monitor notify-partial srv_12 true",
  run: (stores, _words, [id, text]) => {
    const notifyOnPartial = flagOf(text, "notify-partial");
    return change(stores, id, () => ({ notifyOnPartial }));
  },
};

async function change(
  { controlPlane, nowMs }: AdminStores,
  text: unknown,
  decide: (monitor: Monitor) => MonitorChange,
): Promise<Done> {
  const id = idOf("server", text, "the monitor");
  const name = formatId("server", id);
  const found = known(await controlPlane.monitors.recall(id), `monitor ${name}`);
  if (isPassive(found.monitor.kind)) throw new CommandError(`monitor ${name} is a heartbeat: it has no locations`);
  const changed = known(
    await controlPlane.monitors.update(found.monitor.projectId, id, nowMs, OPERATOR, ({ monitor }) => decide(monitor)),
    `monitor ${name}`,
  );
  const { locations: chosen, disabledLocations, notifyOnPartial } = changed.monitor;
  const paused = disabledLocations.length === 0 ? "" : `, paused ${disabledLocations.join(", ")}`;
  return {
    facts: {
      id: name,
      locations: chosen,
      disabled_locations: disabledLocations,
      notify_on_partial: notifyOnPartial,
    },
    text: `monitor ${name}: locations ${chosen.join(", ")}${paused}; a partial outage ${notifyOnPartial ? "alerts" : "does not alert"}`,
  };
}

/** In the order given, each once. */
function codesOf(text: unknown): readonly string[] {
  const codes = [
    ...new Set(
      String(text)
        .split(",")
        .map((code) => code.trim()),
    ),
  ];
  const wrong = codes.find((code) => code !== ANY_LOCATION && !/^[a-z]{2}$/.test(code));
  if (wrong !== undefined) throw new CommandError("locations must be any or lowercase countries, such as de,nl");
  if (codes.length > MOST_LOCATIONS) throw new CommandError(`a monitor has at most ${MOST_LOCATIONS} locations`);
  return codes;
}

function chosenOf({ locations: chosen }: Monitor, code: unknown): string {
  const location = chosen.find((one) => one === code);
  if (location === undefined)
    throw new CommandError(`it is not checked from there: its locations are ${chosen.join(", ")}`);
  return location;
}

export const monitor: ActGroup = {
  name: "monitor",
  summary: "where a monitor is checked from, and whether a partial outage alerts",
  acts: [locations, disable, enable, notifyPartial],
};
