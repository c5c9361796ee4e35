/** The thread that reads long texts (start.ts starts it): one at a time, in the order of the messages. */
import { parentPort, workerData } from "node:worker_threads";
import { finished } from "../../model/document/read.ts";
import type { DocumentWords } from "../../model/document/shape.ts";
import { type TextSteps, textSteps } from "./steps.ts";
import type { TextWorkName } from "./texts.ts";

export interface ToReadingThread {
  readonly work: TextWorkName;
  readonly asked: readonly unknown[];
}

const steps = textSteps(workerData as DocumentWords);

parentPort?.on("message", async ({ work, asked }: ToReadingThread) => {
  const begin = steps[work] as (...all: readonly unknown[]) => ReturnType<TextSteps[TextWorkName]>;
  parentPort?.postMessage(finished<unknown>(await begin(...asked)));
});
