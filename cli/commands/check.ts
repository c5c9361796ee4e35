/** `sonde check`: one configuration or address, now, without a server. */

import type { Command } from "commander";
import type { Engine } from "../../model/subscription.ts";
import { addLoginOptions, type LoginOptions, loginOf, readSource } from "../check/source.ts";
import { CommandError, endsWrongCalls, INTERRUPTED, usageError } from "../command.ts";
import { painter, plainJson } from "../table.ts";

interface Options extends LoginOptions {
  readonly protocol?: string;
  readonly engine?: Engine;
  readonly timeout: number;
  readonly json?: boolean;
}

/** Seconds; the longest is the contract's for any check. */
const TIMEOUT_S = { least: 1, most: 120, standard: 30 } as const;

export function addCheck(program: Command): void {
  const command = endsWrongCalls(program.command("check"))
    .argument("<link|file|->", "share link, configuration file, address, or - for stdin")
    .description("check one VPN, proxy or address now: no server, no root, nothing is kept")
    .option(
      "--protocol <name>",
      "protocol of the file or server, where its text does not show it (openconnect, ikev2)",
    );
  addLoginOptions(command)
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

async function check(word: string, options: Options): Promise<void> {
  const { targetOf, protocolNamed, withEngine } = await import("../check/target.ts");
  const protocol = options.protocol === undefined ? null : protocolNamed(options.protocol);
  const { text } = await readSource(word, options);
  const target = targetOf(text, protocol, await loginOf(options, protocol));
  const settings = options.engine === undefined ? target.settings : await withEngine(target, options.engine);
  const { explain } = await import("../check/outcome.ts");
  const { openProbers } = await import("../check/open.ts");
  const { describe } = await import("../check/words.ts");
  const probers = await openProbers(1, 1, ({ message }) => {
    process.stderr.write(`sonde: ${message}\n`);
    process.exit(1);
  });
  const stop = closeOnSignal(() => probers.close());
  const outcome = await probers.check({ kind: target.kind, settings, timeoutMs: options.timeout * 1_000 });
  await probers.close();
  stop.forget();
  if (outcome.verdict === "cancelled") throw new CommandError("interrupted", INTERRUPTED);
  const said = explain(target.kind, outcome);
  if (options.json === true)
    process.stdout.write(`${plainJson({ target: target.place, name: target.name, ...said })}\n`);
  else process.stdout.write(describe(target, said, painter(process.stdout)));
  process.exitCode = outcome.verdict === "ok" ? 0 : 1;
}

/** The first signal ends it cleanly; a second at once. */
function closeOnSignal(close: () => Promise<void>): { forget(): void } {
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
