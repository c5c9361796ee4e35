/** `pull-filter`: which of the options that a server pushes a client takes (openvpn(8); options.c, apply_pull_filter). Pure. */
import { TunnelConfigError } from "../../contract/tunnel.ts";
import type { Option } from "./profile.ts";

type Action = "accept" | "ignore" | "reject";

export interface PullFilter {
  readonly action: Action;
  readonly prefix: string;
  /** Of the profile. */
  readonly line: number;
}

const ACTIONS: readonly Action[] = ["accept", "ignore", "reject"];
/** Each is held against each of the 10,000 options that a server may push; providers write a handful. */
export const MOST_FILTERS = 64;

/** @throws TunnelConfigError */
export function pullFiltersOf(options: readonly Option[]): readonly PullFilter[] {
  const filters = options.filter(({ name }) => name === "pull-filter");
  if (filters.length > MOST_FILTERS) throw new TunnelConfigError(`a profile has at most ${MOST_FILTERS} pull-filter`);
  return filters.map(({ parameters: [word, prefix, ...more], line }) => {
    const action = ACTIONS.find((one) => one === word);
    if (action === undefined || prefix === undefined || more.length > 0) {
      throw new TunnelConfigError(`config line ${line}: pull-filter needs accept, ignore or reject, and one text`);
    }
    return { action, prefix, line };
  });
}

/** The first filter that an option begins like decides; without one it is taken. @returns what is taken, and the line that refuses the server's options */
export function filtered(
  options: readonly string[],
  filters: readonly PullFilter[],
): { readonly taken: readonly string[]; readonly rejectedBy: number | null } {
  const judged = options.map((option) => ({ option, filter: filters.find(({ prefix }) => option.startsWith(prefix)) }));
  return {
    taken: judged.filter(({ filter }) => filter?.action !== "ignore").map(({ option }) => option),
    rejectedBy: judged.find(({ filter }) => filter?.action === "reject")?.filter?.line ?? null,
  };
}
