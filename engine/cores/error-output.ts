/** Why a core refuses a config: the core's message, without secrets. Pure. */
import type { ProxyConfig } from "../protocols/share-link/proxy-config.ts";

const MAX_REASON = 160;
/** Shorter texts are words of the protocol, and too short for a secret. */
const MIN_SECRET = 4;

/** @param errorOutput everything the core said, which may name any field of the config */
export function reasonOf(errorOutput: string, config: ProxyConfig): string {
  const lines = errorOutput.split("\n").filter((line) => line.trim() !== "");
  // xray writes `Failed to start: …`, sing-box `FATAL[0000] …`; a panic writes a stack after its first line.
  const telling = lines.find((line) => /failed to start|^panic:|fatal/i.test(line)) ?? lines.at(-1) ?? "";
  const cause = telling.split(" > ").at(-1) ?? "";
  const plain = withoutSecrets(withoutPosition(cause), config)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return plain.length > MAX_REASON ? `${plain.slice(0, MAX_REASON - 1)}…` : plain;
}

/** What follows `outbounds[3] …: `, which says where in a file of ours the fault is. */
function withoutPosition(cause: string): string {
  const place = /outbounds?\[\d+\]/.exec(cause);
  if (place === null) return cause;
  const colon = cause.indexOf(":", place.index);
  return colon < 0 || cause.charAt(colon + 1) !== " " ? cause : cause.slice(colon + 2);
}

function withoutSecrets(text: string, config: ProxyConfig): string {
  const secrets = textsIn({ ...config, account: { ...config.account, protocol: null } })
    .filter(({ length }) => length >= MIN_SECRET)
    .sort((a, b) => b.length - a.length);
  return secrets.reduce((now, secret) => now.replaceAll(secret, "…"), text);
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value, ...value.split(":")];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
