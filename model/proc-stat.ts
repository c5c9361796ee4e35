/** Processor time of a process or a thread as Linux reports it. Pure. */

/** Clock ticks of /proc a second: USER_HZ, the same on every Linux (proc(5)). */
const TICKS_PER_S = 100;

/**
 * @param stat contents of /proc/<pid>/stat or /proc/<pid>/task/<tid>/stat (proc(5)): fields 14 and 15 are user and system time, in ticks
 * @returns processor time of the process or thread, ms; null when the text is of another form
 */
export function cpuMsOf(stat: string): number | null {
  // The name in field 2 may hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 13);
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  return Number.isFinite(user) && Number.isFinite(system) ? ((user + system) * 1_000) / TICKS_PER_S : null;
}
