/** What `npm run bench -- all` runs, in this order: one line each. */

export interface PlannedBench {
  /** Words of `npm run bench --`. */
  readonly words: readonly string[];
  /** Fewer monitors, checks or rounds, for a first look; as `words` where the bench is short. */
  readonly quickWords?: readonly string[];
  /** It is ended after this, s: several times what it takes on two cores with nothing else to do. */
  readonly deadlineS: number;
}

export const PLAN: readonly PlannedBench[] = [
  bench("uptime --monitors 100 --interval 1", 400, "uptime --monitors 100 --interval 1 --seconds 10"),
  bench("uptime --monitors 1000 --interval 1", 400, "uptime --monitors 1000 --interval 1 --seconds 10"),
  bench("uptime --monitors 5000 --interval 1", 600, "uptime --monitors 3000 --interval 1 --seconds 10"),
  bench("cold-start", 600, "cold-start --monitors 1000"),
  bench("burst http", 900),
  bench("burst keyword", 900),
  bench("burst port", 900),
  bench("burst ping", 900),
  bench("burst dns", 900),
  bench("kinds", 900, "kinds --monitors 500 --seconds 5"),
  bench("reads", 1_200, "reads --monitors 1000 --seconds 5 --warm-up 5"),
  bench("status-page", 900, "status-page --monitors 1000 --checks 500 --seconds 5 --warm-up 5"),
  bench("storm", 1_200, "storm --monitors 1000 --seconds 20 --warm-up 5"),
  bench("scale", 1_800, "scale --monitors 10000 --seconds 20"),
  bench("api", 1_800, "api --rows 100000 --rounds 1 --seconds 2"),
  bench("documents", 900, "documents --monitors 1000 --rounds 1"),
  bench("page", 900, "page --rounds 3"),
  bench("parts", 1_800),
  bench("tunnels", 1_800, "tunnels --rounds 1 --checks 2000"),
  bench("links", 2_400, "links --rounds 1 --configs 1000"),
  bench("roles", 1_200, "roles --monitors 500 --seconds 10"),
  bench("move", 3_600, "move --monitors 500 --rows 50000 --kills 2"),
  bench("faults", 3_600, "faults kill --monitors 200"),
  bench("peers", 3_600, "peers --targets 500 --rounds 1 --seconds 10"),
];

function bench(words: string, deadlineS: number, quick?: string): PlannedBench {
  return { words: words.split(" "), deadlineS, ...(quick === undefined ? {} : { quickWords: quick.split(" ") }) };
}
