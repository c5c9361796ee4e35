/** The built command line run to its end in pipes, as a script runs it. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { openWireguardServer, type WireguardServer } from "../demo/tunnels/wireguard-server.ts";
import { nodeCrypto } from "../engine/protocols/wireguard/crypto-node.ts";

export const SONDE = fileURLToPath(new URL("../dist/cli/sonde.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Loopback open, no canaries: what is checked in tests is here. */
export function directEnv(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    TERM: "xterm-256color",
    SONDE_CANARIES: "",
    SONDE_ALLOW_NETS: "127.0.0.0/8",
    SONDE_TUNNEL_TARGETS: "icmp:1.1.1.1",
    ...more,
  };
}

export function sonde(
  words: readonly string[],
  { input, env = {} }: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  return execute(process.execPath, [SONDE, ...words], input, env);
}

/** In bash, with pipes; `$sonde` is the command. */
export function inShell(script: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return execute(
    "bash",
    ["--norc", "-c", `sonde() { "${process.execPath}" "${SONDE}" "$@"; }\n${script}`],
    undefined,
    env,
  );
}

function execute(program: string, words: readonly string[], input: string | undefined, env: object): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { env: directEnv({ ...env }), stdio: "pipe" });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
  });
}

export interface WireguardWorld {
  readonly server: WireguardServer;
  /** The file of a client that the server knows. */
  file(client: number): string;
  /** Of one that it is silent to. */
  unknownFile(client: number): string;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

export async function openWireguardWorld(clients: number): Promise<WireguardWorld> {
  const keys = Array.from({ length: 2 * clients }, (_, index) => new Uint8Array(32).fill(index + 1));
  const server = await openWireguardServer({
    privateKey: new Uint8Array(32).fill(0xe1),
    clients: keys.slice(0, clients).map((key) => ({ publicKey: nodeCrypto.privateKey(key).publicBytes })),
    ephemeralSeed: new Uint8Array(32).fill(0xe2),
  });
  const file = (index: number): string =>
    [
      `[Interface]\nPrivateKey = ${base64(keys[index] ?? new Uint8Array(32))}\nAddress = 10.66.0.${index + 2}/32`,
      `[Peer]\nPublicKey = ${base64(server.publicKey)}\nEndpoint = 127.0.0.1:${server.port}\nAllowedIPs = 0.0.0.0/0\n`,
    ].join("\n");
  return { server, file, unknownFile: (client) => file(clients + client) };
}
