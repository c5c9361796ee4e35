/** Looks into an answer with a user's expressions, within the time of a check. */
import type { Verdict } from "../../model/verdict.ts";
import type { ProbeContext } from "../contract/probe.ts";
import { whenAborted } from "../net/fault.ts";
import type { TextRules } from "../text-judge/text-judge.ts";

interface Fault {
  readonly verdict: Verdict;
  readonly message: string;
}

/** @returns null: it is as it is wanted. Never rejects: that we were not done in time is no word about the website. */
export function lookInto(text: string, rules: TextRules, context: ProbeContext): Promise<Fault | null> {
  const { textJudge } = context;
  if (textJudge === undefined) {
    return Promise.resolve({ verdict: "unsupported", message: "This checker cannot look into answers" });
  }
  return new Promise((resolve) => {
    whenAborted(context, () => {
      resolve({ verdict: "unfit", message: "The answer was not looked into within the check's time" });
    });
    void textJudge.judge(rules, text, context.workspace).then((answer) => {
      if (answer.type === "passed") resolve(null);
      else if (answer.type === "failed") resolve({ verdict: "rejected", message: answer.message });
      else resolve({ verdict: answer.verdict, message: answer.message });
    });
  });
}
