/** `sonde admin` as an operator runs it beside a service: a process of its own, one JSON object printed. */
import { ended, type RunningService, runSonde } from "./service.ts";

/** @throws what it said, when its exit code is not 0 */
export async function admin<Facts = Readonly<Record<string, unknown>>>(
  { dataDir }: Pick<RunningService, "dataDir">,
  env: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<Facts> {
  const { child, output } = await runSonde({ dataDir, env, args: ["admin", ...words, "--json"] });
  const code = await ended(child, () => {});
  if (code !== 0) throw new Error(`sonde admin ${words.join(" ")} ended with ${code}: ${output()}`);
  return JSON.parse(output()) as Facts;
}
