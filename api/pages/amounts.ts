/** Stretches of time and shares, before a language words them. Pure. */

export type Unit = "s" | "min" | "h" | "d";

/** `14 min`, `2 h 5 min`, `3 d 4 h`: the two greatest units. */
export function duration(seconds: number, say: (count: number, unit: Unit) => string): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return say(whole, "s");
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return say(minutes, "min");
  const hours = Math.floor(minutes / 60);
  const both = (great: number, greatUnit: Unit, small: number, smallUnit: Unit) =>
    small === 0 ? say(great, greatUnit) : `${say(great, greatUnit)} ${say(small, smallUnit)}`;
  if (hours < 24) return both(hours, "h", minutes % 60, "min");
  return both(Math.floor(hours / 24), "d", hours % 24, "h");
}

/** Never rounded up: 100 is said of what was not down at all. */
export function atMost(uptime: number): string {
  const floored = Math.floor(uptime * 1_000) / 1_000;
  return floored === 100 ? "100" : (Math.floor(uptime * 100) / 100).toFixed(2);
}
