/** Asking verify endpoints without a proxy: they are the operator's own choice, so the address guard does not stand in the way (docs/decisions/0004-address-guard.md). */

import { randomBytes } from "node:crypto";
import { createSecureContext, rootCertificates } from "node:tls";
import { withoutBrackets } from "../../model/url.ts";
import type { EngineOptions } from "../contract/options.ts";
import { addressSet } from "../transport/address-set.ts";
import { createGuard, type Guard } from "../transport/guard.ts";
import { createTransport } from "../transport/index.ts";
import type { Resolver } from "../transport/resolver.ts";
import { FOREIGN_TLS } from "../transport/tls-bounds.ts";
import type { DialContext } from "../transport/transport.ts";
import { parseVerifyUrl, STANDARD_VERIFY_URLS, type VerifyEndpoint } from "./endpoint.ts";
import { type ExchangeOptions, startExchange } from "./exchange.ts";
import { lineOver } from "./line.ts";
import { createVerifier, type Verifier } from "./verifier.ts";

/** An endpoint that takes longer directly is of no use through a proxy either, ms. */
const DIRECT_TIMEOUT_MS = 5_000;

const OPEN: Guard = {
  judge: () => ({ allowed: true }),
  judgePorts: () => ({ allowed: true }),
  judgeLiteral: () => ({ allowed: true }),
};

/** Whether it is public is asked: that it is this machine's own is why it is asked at all. */
const NOWHERE = addressSet([]);

/** @throws VerifyUrlError naming the entry of the settings that cannot be used */
export function openVerifier(options: EngineOptions, resolver: Resolver, now: () => number): Verifier {
  const { verifyUrls = [], baseUrl = null } = options;
  const entries = [...(verifyUrls.length > 0 ? verifyUrls : STANDARD_VERIFY_URLS), ...ownEntry(baseUrl)];
  const endpoints = entries.map(parseVerifyUrl);
  const { extraCaPem } = options;
  const openSecureContext = () =>
    createSecureContext({ ...FOREIGN_TLS, ...(extraCaPem !== null && { ca: [...rootCertificates, extraCaPem] }) });
  // Its TLS is not used: the exchange has its own.
  const transport = createTransport({ ...options, extraCaPem: null }, { resolver, guard: OPEN });

  async function ask(endpoint: VerifyEndpoint): Promise<boolean> {
    const controller = new AbortController();
    const late = setTimeout(() => controller.abort(), DIRECT_TIMEOUT_MS);
    const context = silentContext(controller.signal);
    try {
      const addresses = await transport.resolve(endpoint.host, endpoint.port, "both", context);
      const socket = await transport.connectTcp(addresses, endpoint.port, context);
      const { secureContext } = verifier;
      return await answers(endpoint, { open: lineOver(socket), secureContext, now, after: transport.after });
    } catch {
      return false;
    } finally {
      clearTimeout(late);
    }
  }
  const verifier = createVerifier(endpoints, openSecureContext, ask, now, {
    download: options.downloadUrl === undefined ? null : parseVerifyUrl(options.downloadUrl),
    isCountryWanted: options.isExitCountryWanted ?? false,
  });
  return verifier;
}

/** Only where the whole world can ask it: an address of our own network would prove nothing, or never be reached. */
export function ownEntry(baseUrl: string | null): readonly string[] {
  if (baseUrl === null) return [];
  const { hostname, protocol, port } = new URL(baseUrl);
  const guard = createGuard({ allowNets: [], ownEndpoints: [], localAddresses: () => NOWHERE });
  const number = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
  const isPublic = guard.judgeLiteral(withoutBrackets(hostname), number)?.allowed ?? hostname.includes(".");
  return isPublic ? [`${baseUrl}/verify#token`] : [];
}

/** The socket ends with its context's signal, and the exchange with the socket. */
async function answers(
  endpoint: VerifyEndpoint,
  connection: Pick<ExchangeOptions, "open" | "secureContext" | "now" | "after">,
): Promise<boolean> {
  const token = randomBytes(12).toString("hex");
  const exchange = startExchange({ ...connection, login: null, isEager: true, endpoint, token });
  return (await exchange.done).kind === "passed";
}

/** Of a dial that belongs to no check's account. */
function silentContext(signal: AbortSignal): DialContext {
  const nothing = (): void => {};
  return { signal, phase: nothing, tried: nothing, answered: nothing };
}
