/** One act on each of several records: all are tried, and the exit code says whether all of them held. */
import { CommandError } from "./command.ts";
import { printJson, type ServiceOptions } from "./service-options.ts";
import { plain } from "./table.ts";

export interface EachOptions<Answer> {
  readonly act: (id: string) => Promise<Answer>;
  /** A line for people. */
  readonly say: (answer: Answer) => string;
}

/** @throws CommandError with every refusal, once all were tried */
export async function forEach<Answer>(
  ids: readonly string[],
  { json }: ServiceOptions,
  { act, say }: EachOptions<Answer>,
): Promise<void> {
  const answers: Answer[] = [];
  const refusals: string[] = [];
  for (const id of ids) {
    try {
      const answer = await act(id);
      answers.push(answer);
      if (json !== true) process.stdout.write(`${plain(say(answer))}\n`);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      refusals.push(`${id}: ${error.message}`);
    }
  }
  // One record is shown as the API shows it, several as a list.
  if (json === true && answers.length > 0) printJson(ids.length === 1 ? answers[0] : answers);
  if (refusals.length > 0) throw new CommandError(refusals.join("; "));
}
