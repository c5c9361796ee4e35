/** `sonde check`: one configuration or address, now, without a server. */
import { readFileSync, statSync } from "node:fs";
import type { Command } from "commander";
import type { LoginFields } from "../check/target.ts";
import { CommandError, endsWrongCalls, usageError } from "../command.ts";
import { plainJson } from "../table.ts";

interface Words {
  readonly protocol?: string;
  readonly host?: string;
  readonly username?: string;
  readonly passwordFile?: string;
  readonly pskFile?: string;
  readonly port?: number;
  readonly remoteId?: string;
  readonly localId?: string;
  readonly group?: string;
  readonly ca?: string;
  readonly pin?: string;
  readonly engine?: Engine;
  readonly timeout: number;
  readonly json?: boolean;
}

export type Engine = "xray" | "singbox";

/** Of a configuration file or stdin, bytes. */
const LARGEST_BYTES = 1024 * 1024;
/** Seconds; the longest is the contract's for any check. */
const TIMEOUT_S = { least: 1, most: 120, standard: 30 } as const;
const INTERRUPTED = 130;

export function addCheck(program: Command): void {
  endsWrongCalls(program.command("check"))
    .argument("<link|file|->", "share link, configuration file, address, or - for stdin")
    .description("check one VPN, proxy or address now: no server, no root, nothing is kept")
    .option("--protocol <name>", "what the file or server is, when its text does not tell (openconnect, ikev2)")
    .option("--username <name>", "openconnect, ikev2, openvpn: who logs in")
    .option("--password-file <file>", "its first line is the password; - for stdin; otherwise it is asked for")
    .option("--psk-file <file>", "ikev2 without a username: the pre-shared key")
    .option("--host <host>", "use this server instead of the file's (wireguard, amneziawg, openvpn)")
    .option("--port <n>", "use this port", portOf)
    .option("--remote-id <id>", "ikev2: who the server must be")
    .option("--local-id <id>", "ikev2: who we say we are, when it is not the username")
    .option("--group <name>", "openconnect: the group to log in to")
    .option("--ca <file>", "openconnect, ikev2: PEM of the authorities to trust")
    .option("--pin <pin>", "openconnect: pin-sha256:… of the server's key")
    .option("--engine <name>", "share links: through xray or singbox only", engineOf)
    .option("--timeout <s>", `seconds, ${TIMEOUT_S.least} to ${TIMEOUT_S.most}`, timeoutOf, TIMEOUT_S.standard)
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      [
        "\nLinks: vless vmess trojan ss hysteria2 hy2 tuic (these need a core: sonde cores install).",
        "Files: WireGuard, AmneziaWG, OpenVPN. Addresses: https://… host:port host.",
        "Private networks are refused unless SONDE_ALLOW_NETS opens them.",
        "\nExit code: 0 it passed, 1 it did not, 2 wrong call, 130 interrupted.",
        "\nExamples:",
        "  sonde check 'vless://…@vpn.example.net:443?security=tls#Berlin'",
        "  sonde check wg0.conf",
        "  sonde check client.ovpn --username ada --password-file secret.txt",
        "  sonde check vpn.example.net --protocol openconnect --username ada --group staff",
        "  pass show vpn | sonde check gw.example.net --protocol ikev2 --username ada --password-file -",
        "  sonde check https://example.net --json\n",
      ].join("\n"),
    )
    .action(check);
}

async function check(word: string, words: Words): Promise<void> {
  if (word === "-" && (words.passwordFile === "-" || words.pskFile === "-")) {
    throw usageError("stdin can be the configuration or the password, not both");
  }
  const { targetOf, protocolNamed, withEngine } = await import("../check/target.ts");
  const protocol = words.protocol === undefined ? null : protocolNamed(words.protocol);
  const text = await readTarget(word);
  const target = targetOf(text, protocol, await loginOf(words, protocol));
  const settings = words.engine === undefined ? target.settings : withEngine(target, words.engine);
  const { explain } = await import("../check/outcome.ts");
  const { openProbers } = await import("../check/open.ts");
  const { describe, painter } = await import("../check/words.ts");
  const probers = await openProbers(1, 1, ({ message }) => {
    process.stderr.write(`sonde: ${message}\n`);
    process.exit(1);
  });
  const stop = stopOnSignal(() => probers.close());
  const outcome = await probers.check({ kind: target.kind, settings, timeoutMs: words.timeout * 1_000 });
  await probers.close();
  stop.forget();
  if (outcome.verdict === "cancelled") throw new CommandError("interrupted", INTERRUPTED);
  const said = explain(target.kind, outcome);
  if (words.json === true) process.stdout.write(`${plainJson({ target: target.place, name: target.name, ...said })}\n`);
  else process.stdout.write(describe(target, said, painter(process.stdout)));
  process.exitCode = outcome.verdict === "ok" ? 0 : 1;
}

async function readTarget(word: string): Promise<string> {
  if (word !== "-") return readText(word);
  const { readStdin } = await import("../check/stdin.ts");
  return readStdin(LARGEST_BYTES, tooLarge("stdin"));
}

/** A word that names a file is that file's text; one that only looks like it is no name to ping. */
function readText(word: string): string {
  if (!isFile(word)) {
    if (/^[^:]*\.(?:conf|ovpn|txt|json|ya?ml|pem|crt)$/i.test(word)) throw usageError(`there is no file ${word}`);
    return word;
  }
  try {
    if (statSync(word).size <= LARGEST_BYTES) return readFileSync(word, "utf8");
  } catch (error) {
    throw usageError(`cannot read ${word} (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`);
  }
  throw tooLarge(word);
}

function tooLarge(word: string): CommandError {
  return usageError(`${word} is larger than 1 MiB: for a list use sonde bulk`);
}

function isFile(word: string): boolean {
  try {
    return word.length < 4_096 && statSync(word).isFile();
  } catch {
    return false;
  }
}

async function loginOf(words: Words, protocol: string | null): Promise<LoginFields> {
  const { username, host, port, remoteId, localId, group, pin } = words;
  const { askSecret, readSecret } = await import("../check/secret.ts");
  const isLogin = protocol === "openconnect" || protocol === "ikev2" || username !== undefined;
  const psk = words.pskFile === undefined ? undefined : await readSecret(words.pskFile);
  const hasSecret = words.passwordFile !== undefined || psk !== undefined;
  const password =
    words.passwordFile !== undefined
      ? await readSecret(words.passwordFile)
      : isLogin && !hasSecret
        ? await askSecret(username === undefined ? "pre-shared key" : `password of ${username}`)
        : undefined;
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(psk !== undefined && { psk }),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(remoteId !== undefined && { remote_id: remoteId }),
    ...(localId !== undefined && { local_id: localId }),
    ...(group !== undefined && { group }),
    ...(pin !== undefined && { pin }),
    ...(words.ca !== undefined && { ca: readText(words.ca) }),
  };
}

/** The first signal ends it cleanly; a second at once. */
function stopOnSignal(close: () => Promise<void>): { forget(): void } {
  let asked = false;
  const stop = (): void => {
    if (asked) process.exit(INTERRUPTED);
    asked = true;
    void close();
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  return {
    forget: () => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
    },
  };
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 65_535)
    throw usageError("--port must be 1 to 65535");
  return Number(text);
}

function timeoutOf(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= TIMEOUT_S.least && seconds <= TIMEOUT_S.most)) {
    throw usageError(`--timeout must be ${TIMEOUT_S.least} to ${TIMEOUT_S.most} seconds`);
  }
  return seconds;
}

export function engineOf(text: string): Engine {
  if (text === "xray" || text === "singbox") return text;
  throw usageError("--engine must be xray or singbox");
}
