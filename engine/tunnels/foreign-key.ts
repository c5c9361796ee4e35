/** A foreign key that is opened in the process for that (engine/key-opener), within the time of a check. */
import type { ProbeContext } from "../contract/probe.ts";
import type { ForeignKey, KeyAnswer, OpenedKey } from "../key-opener/key-opener.ts";
import { NetworkFault, whenAborted } from "../net/fault.ts";

/**
 * @param field where it stands, for people: `<key>`, `key`
 * @throws NetworkFault `misconfigured` for what cannot be opened, `unfit` when it was not in time, `unsupported` where nothing opens keys
 */
export async function openForeignKey(key: ForeignKey, field: string, context: ProbeContext): Promise<OpenedKey> {
  const { keyOpener } = context;
  if (keyOpener === undefined)
    throw new NetworkFault("unsupported", `This checker cannot open the ${field} of a configuration`);
  const answer = await inTime(keyOpener.open(key), field, context);
  if (answer.type === "opened") return answer.opened;
  const { verdict, words } = answer.refusal;
  throw new NetworkFault(
    verdict,
    `${verdict === "misconfigured" ? "Invalid VPN configuration: " : ""}${field} ${words}`,
  );
}

/** The server was not asked yet: that nothing was opened in time is no word about it. */
function inTime(answer: Promise<KeyAnswer>, field: string, context: ProbeContext): Promise<KeyAnswer> {
  return new Promise((resolve, reject) => {
    whenAborted(context, () => {
      reject(new NetworkFault("unfit", `The ${field} was not opened within the check's time`));
    });
    void answer.then(resolve);
  });
}
