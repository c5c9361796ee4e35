/** The proxy lab as a whole: servers, what stands around them, links to them, and checks of links as `sonde` does them. */

import { createSocket } from "node:dgram";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import dnsPacket from "dns-packet";
import { bind } from "../../demo/loopback.ts";
import type { EngineOptions } from "../../engine/contract/options.ts";
import { findCore } from "../../engine/cores/program.ts";
import type * as DirectModule from "../../engine/direct/direct.ts";
import { parseProxyLink } from "../../engine/protocols/share-link/proxy-link.ts";
import type { Kind } from "../../model/kind.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { Engine } from "../../model/subscription.ts";
import { CORE_PLACES } from "./cores.ts";
import { type Cases, casesOf } from "./proxy-cases.ts";
import { openFixtures, type ProxyFixtures } from "./proxy-fixtures.ts";
import { inboundsOf } from "./proxy-inbounds.ts";
import { type Material, makeMaterial, SERVER_NAME } from "./proxy-material.ts";
import { type ProxyServers, startProxyServers } from "./proxy-servers.ts";

/** The built engine: its probers are threads. */
const BUILT = new URL("../../dist/engine/direct/direct.js", import.meta.url);

export interface ProxyLab {
  readonly folder: string;
  readonly material: Material;
  readonly servers: ProxyServers;
  readonly fixtures: ProxyFixtures;
  readonly cases: Cases;
  /** How the lab is reached and trusted. */
  readonly engine: EngineOptions;
  close(): Promise<void>;
}

export async function openProxyLab(): Promise<ProxyLab> {
  const folder = mkdtempSync(join(tmpdir(), "sonde-proxies-"));
  const closers: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const one of closers.splice(0).reverse()) await one();
  };
  try {
    const programs = findPrograms();
    const material = makeMaterial(folder);
    const fixtures = await openFixtures(material);
    closers.push(fixtures.close);
    const inbounds = inboundsOf(material, { decoyTls: fixtures.pageTls, decoyPage: fixtures.page });
    const servers = await startProxyServers(folder, programs, inbounds, fixtures);
    closers.push(servers.close);
    const resolver = await startResolver(closers);
    const engine: EngineOptions = {
      allowNets: ["127.0.0.0/8"],
      ownEndpoints: [],
      resolvers: [resolver],
      extraCaPem: material.authority.pem,
      rdapBootstrapUrl: null,
      canaries: [],
      verifyUrls: [fixtures.verifyUrl, fixtures.verifyTlsUrl],
      cores: { ...CORE_PLACES, ...programs },
    };
    return { folder, material, servers, fixtures, cases: await casesOf(material, servers, fixtures), engine, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Both are there: without them the lab is not entered (prerequisites.ts). */
function findPrograms(): Readonly<Record<Engine, string>> {
  const programOf = (engine: Engine): string => findCore(engine, CORE_PLACES)?.path ?? "missing";
  return { xray: programOf("xray"), singbox: programOf("singbox") };
}

/** Knows one name, and says of every other that there is none. */
async function startResolver(closers: (() => unknown)[]): Promise<string> {
  const socket = createSocket("udp4");
  socket.on("message", (message, { port, address }) => {
    const { id, questions } = dnsPacket.decode(message);
    const [question] = questions ?? [];
    const isKnown = question?.name === SERVER_NAME;
    const answers =
      isKnown && question.type === "A" ? [{ type: "A" as const, name: SERVER_NAME, ttl: 60, data: "127.0.0.1" }] : [];
    const flags = dnsPacket.RECURSION_DESIRED | (isKnown ? 0 : NO_SUCH_NAME);
    socket.send(
      dnsPacket.encode({ type: "response", id: id ?? 0, flags, questions: questions ?? [], answers }),
      port,
      address,
    );
  });
  const port = await bind(socket);
  closers.push(() => socket.close());
  return `127.0.0.1:${port}`;
}

/** RFC 1035, 4.1.1: RCODE 3. */
const NO_SUCH_NAME = 3;

export interface LinkChecks {
  check(link: string, engine: Engine | null): Promise<CheckOutcome>;
  close(): Promise<void>;
}

/** @param timeoutMs of one check. @param heard whatever is logged meanwhile */
export async function openLinkChecks(
  engine: EngineOptions,
  { timeoutMs, concurrency, heard }: { timeoutMs: number; concurrency: number; heard: (line: string) => void },
): Promise<LinkChecks> {
  const { openDirect }: typeof DirectModule = await import(BUILT.href);
  const log = (fields: object, message: string): void => heard(`${message} ${JSON.stringify(fields)}`);
  const direct = await openDirect({
    engine,
    workers: 1,
    concurrency,
    log: { info: log, warn: log, error: log },
    onFatal: (error) => heard(String(error)),
  });
  return {
    async check(link, wanted) {
      await direct.room();
      const kind: Kind = parseProxyLink(link).config.account.protocol;
      return direct.check({ kind, settings: { url: link, ...(wanted !== null && { engine: wanted }) }, timeoutMs });
    },
    close: () => direct.close(),
  };
}
