/** Whether targets may be monitored, of thousands at once: names are resolved for a while, and then left to the check's own guard. */
import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { isDocumentationName } from "../../engine/contract/registry.ts";
import { ApiError } from "../errors.ts";
import type { Target, Targets } from "../monitors/targets.ts";

/** Names that are asked at the same time. */
const AT_ONCE = 64;
/** For all of them; every dial judges its address again. */
const WITHIN_MS = 1_500;

/** @returns why not, of those that may not, by `host port` */
export async function refusedTargets(targets: Targets, wanted: Iterable<Target>): Promise<ReadonlyMap<string, string>> {
  const unlike = new Map([...wanted].map((target) => [targetKey(target), target]));
  const refused = new Map<string, string>();
  const [literals, names] = partition([...unlike.values()]);
  for (const target of literals) await judge(targets, target, refused);
  const left = names.values();
  const stop = new AbortController();
  const work = async (): Promise<void> => {
    for (const target of left) {
      await judge(targets, target, refused);
      if (stop.signal.aborted) return;
    }
  };
  const all = Promise.all(Array.from({ length: AT_ONCE }, work));
  const late = delay(WITHIN_MS, undefined, { signal: stop.signal, ref: false }).catch(() => {});
  await Promise.race([all, late]);
  stop.abort();
  return new Map(refused);
}

export function targetKey({ host, port }: Target): string {
  return `${host} ${port}`;
}

async function judge(targets: Targets, target: Target, refused: Map<string, string>): Promise<void> {
  try {
    await targets.accept(target);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    refused.set(targetKey(target), error.message + opening(target.host));
  }
}

function opening(host: string): string {
  const family = isIP(host);
  if (family === 0) return "";
  return ` The operator opens it with SONDE_ALLOW_NETS=${host}/${family === 4 ? 32 : 128}.`;
}

/** Documentation names and addresses need no resolver. */
function partition(targets: readonly Target[]): readonly [readonly Target[], readonly Target[]] {
  const isLiteral = ({ host }: Target): boolean => isIP(host) !== 0 || isDocumentationName(host);
  return [targets.filter(isLiteral), targets.filter((target) => !isLiteral(target))];
}
