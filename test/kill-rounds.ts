/**
 * How often a process is killed in the middle of its work. Every round starts processes, so that a test of each commit has few of them and finds what breaks
 * at any moment; `KILL_ROUNDS=20` asks for more by hand (docs/develop/tests.md).
 */

const MOST = 1_000;

/** @param usual of a test of each commit */
export function killRounds(usual: number): number {
  const asked = Number(process.env.KILL_ROUNDS ?? usual);
  if (!Number.isInteger(asked) || asked < 1 || asked > MOST) throw new Error(`KILL_ROUNDS must be 1 to ${MOST}`);
  return Math.max(usual, asked);
}
