/** The thread that makes attempts (start.ts starts it): many at once, each answered by the number that it was asked under. */
import { parentPort, workerData } from "node:worker_threads";
import type { EngineOptions } from "../../../engine/contract/options.ts";
import type { SmtpServer } from "../../../model/smtp-url.ts";
import type { ChannelRequest } from "../channels/channel.ts";
import type { Letter } from "../mail.ts";
import type { Caller } from "../post.ts";
import { attemptsHere } from "./attempts.ts";

export type AttemptOrder =
  | { readonly work: "exchange"; readonly request: ChannelRequest; readonly caller: Caller }
  | { readonly work: "mail"; readonly server: SmtpServer; readonly letter: Letter; readonly projectId: number };

export type ToAttemptsThread = { readonly id: number } & (AttemptOrder | { readonly work: "abort" });

export interface FromAttemptsThread {
  readonly id: number;
  /** What Attempts promises for that work. */
  readonly answer: unknown;
}

const attempts = attemptsHere(workerData as EngineOptions);
const running = new Map<number, AbortController>();

parentPort?.on("message", async (order: ToAttemptsThread) => {
  const { id } = order;
  if (order.work === "abort") {
    running.get(id)?.abort();
    return;
  }
  const controller = new AbortController();
  running.set(id, controller);
  const answer = await made(order, controller.signal);
  running.delete(id);
  parentPort?.postMessage({ id, answer } satisfies FromAttemptsThread);
});

function made(order: AttemptOrder, signal: AbortSignal): Promise<unknown> {
  return order.work === "exchange"
    ? attempts.exchange(order.request, order.caller, signal)
    : attempts.mail(order.server, order.letter, order.projectId, signal);
}
