/** Only the main thread may start cores, so a prober thread asks for outbounds over a MessagePort; when the port closes, its outbounds are closed. */
import type { MessagePort } from "node:worker_threads";
import type { OwnVerdict } from "../../model/verdict.ts";
import { DeadlinePassed, NetworkFault } from "../transport/fault.ts";
import { createLocalLines, type LocalLines } from "../verify/line.ts";
import { Beginnings } from "./beginnings.ts";
import { LOCAL_HOST } from "./core.ts";
import type { Finding } from "./finding.ts";
import { Mailbox } from "./mailbox.ts";
import type { OpenOutbound, OutboundRequest, Outbounds } from "./outbound.ts";

export type ToSupervisor =
  | { readonly type: "open"; readonly id: number; readonly request: OutboundRequest }
  | { readonly type: "close"; readonly id: number /** Its local port did not answer. */; readonly isMute: boolean }
  | { readonly type: "findings"; readonly id: number };

export interface OpenedOutbound {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly startedMs: number;
  readonly isCrowded: boolean;
}

export interface OutboundRefusal {
  readonly verdict: OwnVerdict | "misconfigured";
  readonly message: string;
  readonly hint?: string;
}

export type FromSupervisor =
  | { readonly type: "opened"; readonly id: number; readonly outbound: OpenedOutbound }
  | { readonly type: "refused"; readonly id: number; readonly refusal: OutboundRefusal }
  | {
      readonly type: "findings";
      readonly id: number;
      readonly findings: readonly Finding[];
      readonly hasDied: boolean;
    }
  | { readonly type: "died"; readonly id: number };

/** How long the main thread may take to tell what a core has said, ms. */
const FINDINGS_WITHIN_MS = 1_000;

const NOT_READY = "No proxy core got ready on this checker within the check's time";

interface Held {
  opened?: (outbound: OpenedOutbound) => void;
  refused?: (refusal: OutboundRefusal) => void;
  findings?: (findings: readonly Finding[]) => void;
  giveBack?: () => void;
  hasDied: boolean;
}

/**
 * @param port whose other end the supervisor has (supervisor.ts, connect)
 * @param lines to the cores' local ports
 */
export function connectOutbounds(port: MessagePort, lines: LocalLines = createLocalLines()): Outbounds {
  const mailbox = new Mailbox<ToSupervisor>(port);
  const held = new Map<number, Held>();
  const beginnings = new Beginnings();
  let lastId = 0;
  const post = (word: ToSupervisor): void => mailbox.post(word);

  function hear(word: FromSupervisor): void {
    const one = held.get(word.id);
    if (one === undefined) return;
    if (word.type === "opened") one.opened?.(word.outbound);
    else if (word.type === "refused") one.refused?.(word.refusal);
    else {
      one.hasDied ||= word.type === "died" || word.hasDied;
      if (word.type === "findings") one.findings?.(word.findings);
    }
  }
  port.on("message", (words: readonly FromSupervisor[]) => words.forEach(hear));
  // The port need not keep the thread alive: each waiting caller has a deadline, and its timer does.
  port.unref();

  function close(id: number, isMute = false): void {
    const one = held.get(id);
    if (one === undefined) return;
    held.delete(id);
    one.giveBack?.();
    post({ type: "close", id, isMute });
  }
  function findings(id: number, one: Held): Promise<readonly Finding[]> {
    return new Promise((resolve) => {
      if (!held.has(id)) return resolve([]);
      const late = setTimeout(() => resolve([]), FINDINGS_WITHIN_MS);
      one.findings = (all) => {
        clearTimeout(late);
        resolve(all);
      };
      post({ type: "findings", id });
    });
  }

  return {
    open(request, whenAborted) {
      return new Promise<OpenOutbound>((resolve, reject) => {
        const id = ++lastId;
        const one: Held = { hasDied: false };
        let isWaiting = true;
        whenAborted((fault) => {
          if (!isWaiting) return;
          isWaiting = false;
          close(id);
          // The server was not asked yet, so a core that was not ready in time proves nothing about the server.
          reject(fault instanceof DeadlinePassed ? new NetworkFault("unfit", NOT_READY) : fault);
        });
        if (!isWaiting) return;
        one.refused = ({ verdict, message, hint }) => {
          isWaiting = false;
          held.delete(id);
          reject(new NetworkFault(verdict, message, hint === undefined ? {} : { hint }));
        };
        one.opened = (outbound) => {
          beginnings.take((giveBack) => {
            one.giveBack = giveBack;
            if (!isWaiting) return giveBack();
            isWaiting = false;
            const { port: localPort, ...known } = outbound;
            resolve({
              ...known,
              engine: request.engine,
              open: lines.to(LOCAL_HOST, localPort),
              findings: () => findings(id, one),
              hasDied: () => one.hasDied,
              close: (isMute) => close(id, isMute),
            });
          });
        };
        held.set(id, one);
        post({ type: "open", id, request });
      });
    },
  };
}
