/** A prober's way to the process that looks into answers. */
import type { MessagePort } from "node:worker_threads";
import { connectBounded } from "../bounded/bounded-port.ts";
import type { AskedText } from "./judge-process.ts";
import type { TextAnswer, TextJudge } from "./text-judge.ts";

/** @param port whose other end the judge has (judge-process.ts, connect) */
export function connectTextJudge(port: MessagePort): TextJudge {
  const ask = connectBounded<AskedText, TextAnswer>(port);
  return { judge: (rules, text, workspace) => ask({ rules, text, workspace }) };
}
