/** What the suites of website checks share: servers on loopback that answer byte by byte, and one check run against them. */
import type { Socket } from "node:net";
import { afterAll, afterEach } from "vitest";
import { makeAuthority } from "../../demo/certificates.ts";
import { makeRig, type RawServer, rawServer, rigTransport } from "../../test/web-rig.ts";
import type { Outcome } from "../contract/probe.ts";
import { classify } from "../net/classify.ts";
import { http } from "../probes/http.ts";
import { keyword } from "../probes/keyword.ts";
import { judgeText } from "../text-judge/judge-text.ts";
import { createExchanger } from "../transport/native-exchange.ts";
import { planOf } from "./plan.ts";
import { checkWebsite } from "./website.ts";

export const authority = makeAuthority();
export const transport = rigTransport(authority.certPem);
const exchanger = createExchanger();
afterAll(exchanger.close);
export const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

export async function raw(answer: (socket: Socket, request: string) => void): Promise<RawServer> {
  const server = await rawServer(answer);
  closers.push(server.close);
  return server;
}

/** A server that answers every request with these bytes and then closes. */
export const fixed = (...pieces: (string | Buffer)[]) =>
  raw((socket) => {
    for (const piece of pieces) socket.write(piece);
    socket.end();
  });

export const page = (body: string, headers = "") =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;

export interface Checked extends Outcome {
  readonly peerAnswered: boolean;
  readonly hosts: readonly string[];
  readonly phases: readonly string[];
}

/** Plain HTTP over Node's sockets or native streams. */
export type TestedWay = "node" | "native";

export async function check(
  way: TestedWay,
  body: Record<string, unknown>,
  expireWhen?: Promise<unknown>,
): Promise<Checked> {
  if (way === "native" && (await exchanger.ready()) !== "native") throw new Error("there is no native way here");
  const rig = makeRig(way === "native" ? { ...transport, exchangeTcp: exchanger.exchangeTcp } : transport);
  // In this process: the child that a prober asks is tested in test/text-judge.test.ts.
  const context = { ...rig.context, textJudge: { judge: judgeText } };
  const settings = "keyword" in body ? keyword.settings.parse(body) : http.settings.parse(body);
  void expireWhen?.then(() => rig.expire());
  const outcome = await checkWebsite(planOf(settings), context).catch((error: unknown) =>
    classify(error, rig.phases.at(-1) ?? null),
  );
  return { ...outcome, peerAnswered: rig.answers > 0, hosts: rig.hosts, phases: rig.phases };
}
