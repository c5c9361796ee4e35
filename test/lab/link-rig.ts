/** Share links' probes with what they need: a supervisor of real cores in this process, a verify endpoint, and small servers on loopback. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listen } from "../../demo/loopback.ts";
import type { EngineOptions } from "../../engine/contract/options.ts";
import type { Outcome, ProbeContext } from "../../engine/contract/probe.ts";
import type { Bounds } from "../../engine/cores/core-process.ts";
import type { OpenOutbound, Outbounds } from "../../engine/cores/outbound.ts";
import { connectOutbounds } from "../../engine/cores/outbound-port.ts";
import { type CorePaths, findCore } from "../../engine/cores/program.ts";
import { CoreSupervisor } from "../../engine/cores/supervisor.ts";
import { classify } from "../../engine/net/classify.ts";
import { DeadlinePassed } from "../../engine/net/fault.ts";
import { createTransport, type TransportDeps } from "../../engine/transport/index.ts";
import { makeCheck } from "../../engine/transport/peers.suite.ts";
import { createResolver } from "../../engine/transport/resolver.ts";
import type { Transport } from "../../engine/transport/transport.ts";
import { checkShareLink } from "../../engine/tunnels/share-link.ts";
import { openVerifier } from "../../engine/verify/direct.ts";
import { type Asked, askThroughOutbound } from "../../engine/verify/verify-round.ts";
import type { Engine } from "../../model/subscription.ts";
import { freePort } from "../../testkit/free-port.ts";
import { type ServerProcess, startServer, untilReady } from "../servers/server.ts";
import { type Authority, createAuthority } from "./certificates.ts";
import { CORE_PLACES } from "./cores.ts";

export const UUID = "5ec2e700-1111-4222-8333-444455556666";
export const OTHER_UUID = "5ec2e700-1111-4222-8333-444455557777";
export const PASSWORD = "right-password";

export interface LinkRig {
  readonly supervisor: CoreSupervisor;
  readonly outbounds: Outbounds;
  readonly authority: Authority;
  readonly folder: string;
  readonly verifyUrls: readonly string[];
  /** What the supervisor has told its log. */
  readonly told: string[];
  /** Starts a server program with inbounds of its own, each at a free port. @returns their ports */
  serve(engine: Engine, inbounds: readonly object[]): Promise<readonly number[]>;
  check(url: string, options?: CheckOptions): Promise<Outcome>;
  /** Asks verify endpoints through an outbound. */
  ask(outbound: OpenOutbound): Promise<Asked>;
  close(): Promise<void>;
}

export interface CheckOptions {
  readonly engine?: Engine;
  readonly timeoutMs?: number;
  readonly transport?: TransportDeps;
  /** Names have both families, IPv6 first: where nothing answers over UDP. */
  readonly hasIpv6First?: boolean;
  /** Called when an outbound is open, before anything is asked through it. */
  readonly opened?: (outbound: OpenOutbound) => void;
}

export interface RigOptions {
  readonly places?: CorePaths;
  /** Instead of the rig's own endpoint. */
  readonly verifyUrls?: readonly string[];
  /** How cores may be held; absent: as tight as they can be here. */
  readonly bounds?: readonly Bounds[];
}

export async function openLinkRig({ places = CORE_PLACES, verifyUrls, bounds }: RigOptions = {}): Promise<LinkRig> {
  const folder = mkdtempSync(join(tmpdir(), "sonde-links-"));
  const authority = createAuthority(folder, "links");
  authority.issue("server", "DNS:localhost,IP:127.0.0.1");
  const endpoint = createServer((request, response) => {
    const token = new URL(request.url ?? "/", "http://localhost").searchParams.get("token");
    response.end(token ?? JSON.stringify({ ip: request.socket.remoteAddress?.replace("::ffff:", "") }));
  });
  const ownPort = await listen(endpoint);
  const urls = verifyUrls ?? [`http://127.0.0.1:${ownPort}/#ip`, `http://localhost:${ownPort}/#token`];
  const options: EngineOptions = {
    allowNets: ["127.0.0.0/8", "::1/128"],
    ownEndpoints: [],
    resolvers: [],
    extraCaPem: authority.pem,
    rdapBootstrapUrl: null,
    canaries: [],
    verifyUrls: urls,
  };
  const told: string[] = [];
  const tell = (fields: object, message: string): void => void told.push(`${message} ${JSON.stringify(fields)}`);
  const supervisor = new CoreSupervisor({
    paths: places,
    extraCaPem: authority.pem,
    log: { info: tell, warn: tell },
    brokerThread: new URL("../../dist/native/sandbox/broker-thread.js", import.meta.url),
    ...(bounds !== undefined && { bounds }),
  });
  const outbounds = connectOutbounds(supervisor.connect());
  const resolver = createResolver({ servers: [] });
  const verifier = openVerifier(options, resolver, () => performance.now());
  const servers: ServerProcess[] = [];
  const usual = createTransport(options, { resolver });

  return {
    supervisor,
    outbounds,
    authority,
    folder,
    verifyUrls: urls,
    told,
    async serve(engine, inbounds) {
      const ports: number[] = [];
      for (const _ of inbounds) ports.push(await freePort());
      const server = launch(engine, inbounds, ports, folder, servers.length);
      servers.push(server);
      for (const [index, port] of ports.entries()) {
        if (!isDatagram(inbounds[index])) await untilReady(server, () => touched(port));
      }
      return ports;
    },
    async check(url, { engine, timeoutMs = 10_000, transport = {}, hasIpv6First, opened = () => {} } = {}) {
      const own = Object.keys(transport).length === 0 ? usual : createTransport(options, { resolver, ...transport });
      const { context, expire } = makeCheck(hasIpv6First === true ? withIpv6First(own) : own);
      const late = setTimeout(() => expire(new DeadlinePassed()), timeoutMs);
      const watched: Outbounds = {
        open: async (request, whenAborted) => {
          const outbound = await outbounds.open(request, whenAborted);
          opened(outbound);
          return outbound;
        },
      };
      const given: ProbeContext = { ...context, deadlineAtMs: Date.now() + timeoutMs, outbounds: watched, verifier };
      try {
        return await checkShareLink(engine === undefined ? { url } : { url, engine }, given);
      } catch (error) {
        const { verdict, message } = classify(error, "handshake");
        return { verdict, message };
      } finally {
        clearTimeout(late);
      }
    },
    ask(outbound) {
      const { context } = makeCheck(usual);
      return askThroughOutbound(outbound, 5_000, { ...context, outbounds, verifier });
    },
    async close() {
      await supervisor.close();
      await Promise.all(servers.map((server) => server.stop("SIGKILL")));
      endpoint.closeAllConnections();
      endpoint.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function withIpv6First(transport: Transport): Transport {
  const loopback6 = { ip: "::1", family: 6 } as const;
  return { ...transport, resolve: async (...asked) => [loopback6, ...(await transport.resolve(...asked))] };
}

function launch(engine: Engine, inbounds: readonly object[], ports: readonly number[], folder: string, index: number) {
  const program = findCore(engine, CORE_PLACES)?.path ?? engine;
  const own = inbounds.map((inbound, at) =>
    engine === "xray"
      ? { listen: "127.0.0.1", port: ports[at], ...inbound }
      : { tag: `in-${at}`, listen: "127.0.0.1", listen_port: ports[at], ...inbound },
  );
  const direct = engine === "xray" ? { protocol: "freedom" } : { type: "direct" };
  const log = engine === "xray" ? { loglevel: "warning" } : { level: "warn" };
  const path = join(folder, `server-${index}.json`);
  writeFileSync(path, JSON.stringify({ log, inbounds: own, outbounds: [direct] }));
  return startServer(program, ["run", "-c", path], { cwd: folder });
}

function isDatagram(inbound: unknown): boolean {
  return /"(?:type|protocol)":"(?:hysteria2?|tuic)"/.test(JSON.stringify(inbound));
}

function touched(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
  });
}
