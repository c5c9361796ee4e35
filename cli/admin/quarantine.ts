/** `sonde admin quarantine`: configurations that brought a prober down and are not run for a while. */
import { formatId } from "../../model/ids.ts";
import { formatIso } from "../../model/time.ts";
import type { QuarantineRecord } from "../../store/sql/coordination/quarantine-port.ts";
import { CommandError } from "../command.ts";
import { type Act, type ActGroup, known } from "./act.ts";

const list: Act = {
  usage: "list",
  summary: "list what is quarantined now, and what was within a week",
  example: "quarantine list",
  async run({ controlPlane, nowMs }) {
    const configs = (await controlPlane.quarantine.all()).map((one) => factsOf(one, nowMs));
    const lines = configs.map(
      ({ id, kind, monitor, location, strikes, held, until, reason }) =>
        `${id}  ${kind}  ${monitor ?? "no monitor"}  ${location}  ${held ? `until ${until}` : "over"}  ${strikes} times  ${reason}`,
    );
    return { facts: { configs }, text: lines.length === 0 ? "nothing is quarantined" : lines.join("\n") };
  },
};

const lift: Act = {
  usage: "lift <id>",
  summary: "run it again within five minutes, and forget how often it brought a prober down",
  example: "quarantine lift 3",
  async run({ controlPlane, nowMs }, _words, [text]) {
    const id = /^\d{1,15}$/.test(text ?? "") ? Number(text) : 0;
    if (id < 1) throw new CommandError("what is lifted must be an id of quarantine list, such as 3");
    const lifted = known(await controlPlane.quarantine.lift(id), `quarantined configuration ${id}`);
    const facts = { ...factsOf(lifted, nowMs), held: false };
    return { facts, text: `configuration ${id} (${facts.monitor ?? "no monitor"}) is run again` };
  },
};

function factsOf(
  { id, kind, monitorId, location, strikes, reason, lastAtMs, untilMs }: QuarantineRecord,
  nowMs: number,
) {
  return {
    id,
    kind,
    monitor: monitorId === null ? null : formatId("server", monitorId),
    location,
    reason,
    strikes,
    held: nowMs < untilMs,
    last_at: formatIso(lastAtMs),
    until: formatIso(untilMs),
  };
}

export const quarantine: ActGroup = {
  name: "quarantine",
  summary: "configurations that brought a checker's thread down and are not run for a while",
  acts: [list, lift],
};
