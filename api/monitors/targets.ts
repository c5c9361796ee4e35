/**
 * Hosts that no monitor may have: documentation, private, reserved and own addresses (docs/api-contract.md#uptime-fields, #addresses). Names are resolved
 * here once to say so early; the guard judges them again at every dial. A name that does not resolve is accepted.
 */
import { isIP } from "node:net";
import { createGuard, isDocumentationName, type Judgement } from "../../engine/contract/registry.ts";
import { unprocessable } from "../errors.ts";

/** A resolver that takes longer is not awaited: the check will show the fault. */
const RESOLVE_TIMEOUT_MS = 2_000;

export interface Target {
  readonly host: string;
  /** 0 for what has none: ping. */
  readonly port: number;
}

export interface Targets {
  /** @throws 422 naming the host and why */
  accept(target: Target): Promise<void>;
  /** Why the target may not be dialled, a clause for people; undefined when it may. */
  refusal(target: Target): Promise<string | undefined>;
}

export function createTargets(options: {
  readonly allowNets: readonly string[];
  readonly ownEndpoints: readonly string[];
  readonly ownBoard?: SharedArrayBuffer | undefined;
  readonly resolve: (name: string) => Promise<readonly string[]>;
}): Targets {
  const guard = createGuard(options);

  async function judgeName(host: string, port: number): Promise<Judgement | undefined> {
    const addresses = (await within(options.resolve(host), RESOLVE_TIMEOUT_MS)).filter(
      (address) => isIP(address) !== 0,
    );
    const judgements = addresses.map((address) => guard.judge(address, port));
    // One good address is enough: the check dials that one.
    return judgements.some((judgement) => judgement.allowed) ? undefined : judgements[0];
  }

  async function judge({ host, port }: Target): Promise<string | undefined> {
    const judgement = guard.judgeLiteral(host, port) ?? (await judgeName(host, port));
    return judgement === undefined || judgement.allowed ? undefined : judgement.reason;
  }

  return {
    async accept(target) {
      const { host } = target;
      if (isDocumentationName(host))
        throw unprocessable(`${host} is reserved for documentation and cannot be monitored.`);
      const reason = await judge(target);
      if (reason !== undefined) throw unprocessable(`${host} cannot be monitored: ${reason}.`);
    },
    async refusal(target) {
      return isDocumentationName(target.host) ? `${target.host} is reserved for documentation` : judge(target);
    },
  };
}

async function within(answer: Promise<readonly string[]>, timeoutMs: number): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((settle) => {
    timer = setTimeout(settle, timeoutMs, []);
  });
  try {
    return await Promise.race([answer, late]);
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}
