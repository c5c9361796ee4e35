/** Which core runs a config: one table; and the other core, where it supports the config too. */
import type { Engine } from "../../model/subscription.ts";
import type { ProxyConfig } from "../protocols/share-link/proxy-config.ts";
import type { Core } from "./core.ts";
import { isDatagram } from "./datagram.ts";
import { singbox } from "./singbox.ts";
import { xray } from "./xray.ts";

/** THE LIST of cores. */
export const cores: Readonly<Record<Engine, Core>> = { xray, singbox };

type Rule = readonly [first: Engine, holds: (config: ProxyConfig) => boolean];

/** The first rule that holds says which core is asked first. */
const RULES: readonly Rule[] = [
  // xray joins all hysteria2 configs of one server in one session, whatever their passwords.
  ["singbox", ({ account }) => account.protocol === "hysteria2" || account.protocol === "tuic"],
  // Newer REALITY servers demand a key share that sing-box does not send.
  ["xray", ({ security }) => security.kind === "reality"],
  // sing-box has one of grpc's two ways, sends no authority of the link's, and tries again in silence where a server speaks no grpc.
  ["xray", ({ transport }) => transport.type === "grpc"],
  // VMess in early data from sing-box to sing-box dies in one connection of five; from xray to either in none (test/lab).
  [
    "xray",
    ({ account, transport }) => account.protocol === "vmess" && transport.type === "ws" && transport.earlyDataBytes > 0,
  ],
  // Quicker at the same work, and within milliseconds sure of a closed port or a bad certificate.
  ["singbox", () => true],
];

export interface Choice {
  /** In the order in which they are tried. */
  readonly engines: readonly Engine[];
  /** Why the others cannot. */
  readonly refusals: readonly string[];
}

/** @param wanted what the person chose; null: either */
export function chooseEngines(config: ProxyConfig, wanted: Engine | null): Choice {
  const [first] = RULES.find(([, holds]) => holds(config)) ?? (["singbox"] as const);
  const order: readonly Engine[] = first === "xray" ? ["xray", "singbox"] : ["singbox", "xray"];
  const asked = wanted === null ? order : order.filter((engine) => engine === wanted);
  const refusals = asked.map((engine) => cores[engine].supports(config));
  return {
    engines: asked.filter((_, index) => refusals[index] === undefined),
    refusals: refusals.filter((reason) => reason !== undefined),
  };
}

/**
 * xray takes no certificate unchecked, and is the only core for some carriers (xhttp). Where it would do with a pin in place of `insecure`, the pin can be
 * the certificate that the server shows.
 */
export function needsPin(config: ProxyConfig, wanted: Engine | null): boolean {
  const { security } = config;
  if (security.kind !== "tls" || !security.isInsecure || isDatagram(config) || wanted === "singbox") return false;
  return chooseEngines(config, wanted).engines.length === 0 && xray.supports(withPin(config, "")) === undefined;
}

/** @returns why the core that was asked for cannot run the config; undefined when it can */
export function engineGap(config: ProxyConfig, wanted: Engine): string | undefined {
  const { engines, refusals } = chooseEngines(config, wanted);
  return engines.length > 0 || needsPin(config, wanted) ? undefined : refusals.join("; ");
}

/** The config with a certificate pinned, where it takes any. @param pin SHA-256 of its DER in hex */
export function withPin(config: ProxyConfig, pin: string): ProxyConfig {
  const { security } = config;
  return security.kind === "tls" ? { ...config, security: { ...security, isInsecure: false, pins: [pin] } } : config;
}
