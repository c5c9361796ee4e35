/** What a profile may not ask of a checker: programs and files of this machine, and ways to the server that it does not go. Pure. */
import { TunnelConfigError } from "../../contract/tunnel.ts";
import { isKnownOption } from "./known-options.ts";
import type { Option, Profile } from "./profile.ts";

/** They cannot be left out: without them the tunnel is another one. */
const UNSUPPORTED: ReadonlySet<string> = new Set(
  "http-proxy socks-proxy scramble secret pkcs11-id pkcs11-providers pkcs11-id-management cryptoapicert config".split(
    " ",
  ),
);
/** Their text belongs between <tag> and </tag>. */
const FILES: ReadonlySet<string> = new Set(
  "ca cert key extra-certs pkcs12 tls-auth tls-crypt tls-crypt-v2 crl-verify".split(" "),
);
/** Options that run a program, read or write a file, or open a port: never obeyed, and reported. */
const NEVER_DONE: ReadonlySet<string> = new Set(
  (
    "up down plugin script-security route-up route-pre-down ipchange tls-verify tls-crypt-v2-verify learn-address " +
    "auth-user-pass-verify client-connect client-disconnect client-crresponse iproute dev-node log log-append status " +
    "writepid daemon chroot cd capath askpass tls-export-cert replay-persist dns-updown management"
  ).split(" "),
);
/** Options that are reported. */
const MAX_TOLD = 8;

/** @throws TunnelConfigError naming the line */
export function refuseUnsupported(profile: Profile): void {
  for (const { name, parameters, line } of optionsOf(profile)) {
    if (UNSUPPORTED.has(name)) throw new TunnelConfigError(`config line ${line}: ${name} is not supported`);
    if (FILES.has(name) && parameters[0] !== undefined && parameters[0] !== "[inline]") {
      throw new TunnelConfigError(
        `config line ${line}: ${name} names a file; put its text between <${name}> and </${name}>`,
      );
    }
    const isTap = (name === "dev" || name === "dev-type") && /^tap/i.test(parameters[0] ?? "");
    if (isTap) throw new TunnelConfigError(`config line ${line}: ${name} tap is not supported, only tun`);
  }
  if (profile.inline.has("secret")) throw new TunnelConfigError("<secret> (static key mode) is not supported");
}

/** Names of options that are there and not done. */
export function neverDone(profile: Profile): readonly string[] {
  const names = optionsOf(profile).map(({ name }) => name);
  return [...new Set(names.filter(isNeverDone))].slice(0, MAX_TOLD);
}

function isNeverDone(name: string): boolean {
  return NEVER_DONE.has(name) || name.startsWith("management-");
}

/** Lines with options that mean nothing to this checker: typing mistakes, and patches of some clients. By number: their text may be a secret. */
export function unknownLines(profile: Profile): readonly number[] {
  const options = optionsOf(profile);
  const ignored = new Set(
    options.filter(({ name }) => name === "ignore-unknown-option").flatMap(({ parameters }) => parameters),
  );
  return options
    .filter(({ name, isOptional }) => isOptional !== true && !ignored.has(name))
    .filter(({ name }) => !isKnownOption(name) && !isNeverDone(name))
    .map(({ line }) => line)
    .slice(0, MAX_TOLD);
}

function optionsOf({ options, connections }: Profile): readonly Option[] {
  return [...options, ...connections.flatMap((block) => block.options)];
}
