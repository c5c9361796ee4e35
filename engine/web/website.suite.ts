/** What the suites of website checks share: servers on loopback that answer byte by byte, and one check run against them. */
import type { Socket } from "node:net";
import { afterEach } from "vitest";
import { makeAuthority } from "../../demo/certificates.ts";
import { loopbackTransport, makeRig, type RawServer, rawServer } from "../../test/web-rig.ts";
import { classify } from "../classify.ts";
import type { Outcome } from "../probe.ts";
import { http } from "../probes/http.ts";
import { keyword } from "../probes/keyword.ts";
import { planOf } from "./plan.ts";
import { checkWebsite, type WebPath } from "./website.ts";

export const authority = makeAuthority();
export const transport = loopbackTransport(authority.certPem);
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

export async function check(
  path: WebPath,
  body: Record<string, unknown>,
  expireWhen?: Promise<unknown>,
): Promise<Checked> {
  const rig = makeRig(transport);
  const settings = "keyword" in body ? keyword.settings.parse(body) : http.settings.parse(body);
  void expireWhen?.then(() => rig.expire());
  const outcome = await checkWebsite(planOf(settings), rig.context, path).catch((error: unknown) =>
    classify(error, rig.phases.at(-1) ?? null),
  );
  return { ...outcome, peerAnswered: rig.peerAnswered, hosts: rig.hosts, phases: rig.phases };
}
