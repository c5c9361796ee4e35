/** `sonde admin maintenance`: periods in which checks change no status, incidents or alerts (docs/api-contract.md#status). */
import { formatId } from "../../model/ids.ts";
import { formatIso } from "../../model/time.ts";
import { CommandError } from "../command.ts";
import { type Act, type ActGroup, idOf, known } from "./act.ts";

/** Thirty days; longer is a pause. */
const MAX_MINUTES = 30 * 24 * 60;

const create: Act = {
  usage: "create",
  summary: "begin maintenance: checks change no status, streaks or incidents; their rows are unknown",
  options: [
    ["!--monitor <id>", "which monitor"],
    ["!--minutes <minutes>", `how long, 1 to ${MAX_MINUTES}`],
  ],
  example: "maintenance create --monitor srv_12 --minutes 90",
  async run({ controlPlane, nowMs }, options) {
    const monitorId = idOf("server", options.monitor, "--monitor");
    const endsAtMs = nowMs + minutesOf(options.minutes) * 60_000;
    const monitor = formatId("server", monitorId);
    const [made] =
      (await controlPlane.maintenance.create([monitorId], { fromMs: nowMs, untilMs: endsAtMs }, nowMs)) ?? [];
    const { id } = known(made, `monitor ${monitor}`);
    const facts = { id, monitor, starts_at: formatIso(nowMs), ends_at: formatIso(endsAtMs) };
    return { facts, text: `maintenance ${id} of ${monitor} until ${facts.ends_at}` };
  },
};

const end: Act = {
  usage: "end <maintenance>",
  summary: "end it now",
  example: "maintenance end 4",
  async run({ controlPlane, nowMs }, _words, [text]) {
    const id = idOf("key", text, "the maintenance");
    const { monitorId, endsAtMs } = known(await controlPlane.maintenance.end(id, nowMs), `maintenance ${id}`);
    const facts = { id, monitor: formatId("server", monitorId), ends_at: formatIso(endsAtMs) };
    return { facts, text: `maintenance ${id} of ${facts.monitor} ended at ${facts.ends_at}` };
  },
};

function minutesOf(words: unknown): number {
  const text = String(words);
  const minutes = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (minutes < 1 || minutes > MAX_MINUTES) {
    throw new CommandError(`--minutes must be a whole number from 1 to ${MAX_MINUTES}`);
  }
  return minutes;
}

export const maintenance: ActGroup = {
  name: "maintenance",
  summary: "stretches in which checks say nothing about a monitor",
  acts: [create, end],
};
