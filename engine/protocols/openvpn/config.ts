/** OpenVPN configurations: the servers of a profile, in the order in which they are tried, and who logs in. */
import {
  identityOf,
  missing,
  type ParsedTunnel,
  presentFields,
  TunnelConfigError,
  type TunnelFields,
  type TunnelServer,
} from "../../contract/tunnel.ts";
import { Handover } from "../../net/handover.ts";
import { parseHost, parsePort, withAddress } from "../endpoint.ts";
import { boundKeyFiles } from "./key-files.ts";
import { optionOf, type Profile, parseProfile, type Scope } from "./profile.ts";
import { refuseUnsupported } from "./refusals.ts";
import { settingsOfScope } from "./settings.ts";

const STANDARD_PORT = 1_194;
/** Servers that are tried (docs/api-contract.md#tunnel-fields). */
const MAX_SERVERS = 16;

export interface Remote extends TunnelServer {
  /** What the profile says for this server: everything outside of <connection> blocks, and over it what its own block has. */
  readonly scope: Scope;
}

export interface OpenvpnConfig {
  /** null: only a server is known. */
  readonly profile: Profile | null;
  /** At least one. */
  readonly servers: readonly Remote[];
  readonly login: { readonly username: string; readonly password: string } | null;
}

/** @throws TunnelConfigError */
export function parseOpenvpn(fields: TunnelFields): ParsedTunnel {
  const read = readConfig(fields);
  const { servers, login, profile } = read;
  // Without a profile nothing of it can be wrong: the check says then what it lacks.
  if (profile !== null) for (const scope of new Set(servers.map((one) => one.scope))) settingsOfScope(scope);
  const endpoints = withAddress(
    fields,
    servers.map(({ host, port }) => ({ host, port })),
  );
  const [server] = endpoints;
  if (server === undefined) throw missing("remote");
  const { config, host, username, password, port, proto, ip } = fields;
  const account = login?.username ?? profile?.inline.get("cert") ?? null;
  const kept = presentFields({
    ...(config !== undefined && { config }),
    ...(host !== undefined && { host }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(port !== undefined && { port }),
    ...(proto !== undefined && { proto }),
    ...(ip !== undefined && { ip }),
    ...(fields.servers !== undefined && fields.servers.length > 0 && { servers: fields.servers }),
  });
  configs.leave(kept, read);
  return {
    protocol: "openvpn",
    fields: kept,
    endpoints,
    identity: account === null ? null : identityOf("openvpn", account, server),
  };
}

const configs = new Handover<TunnelFields, OpenvpnConfig>();

/** As readConfig(), without parsing what parseOpenvpn() has just parsed. @throws TunnelConfigError */
export function configOf(fields: TunnelFields): OpenvpnConfig {
  return configs.take(fields) ?? readConfig(fields);
}

/** @throws TunnelConfigError */
export function readConfig(fields: TunnelFields): OpenvpnConfig {
  const hasConfig = isGiven(fields.config);
  if (!hasConfig && !isGiven(fields.host) && (fields.servers ?? []).length === 0) throw missing("config");
  const profile = hasConfig ? parseProfile(fields.config ?? "") : null;
  if (profile !== null) {
    refuseUnsupported(profile);
    boundKeyFiles(profile);
  }
  const servers = serversOf(fields, profile);
  if (servers.length === 0) throw missing("remote");
  if (servers.length > MAX_SERVERS && fields.servers !== undefined) {
    throw new TunnelConfigError(`servers must have at most ${MAX_SERVERS} entries`);
  }
  return { profile, servers: servers.slice(0, MAX_SERVERS), login: loginOf(fields, profile) };
}

/** What the monitor names replaces what the profile names. */
function serversOf(fields: TunnelFields, profile: Profile | null): readonly Remote[] {
  const remotes = profile === null ? [] : remotesOf(profile);
  const scope = remotes[0]?.scope ?? profile ?? NOTHING;
  if (fields.servers !== undefined && fields.servers.length > 0) {
    return fields.servers.map((server) => ({ ...server, host: parseHost(server.host, "a server's host"), scope }));
  }
  const { host, port, proto } = fields;
  if (!isGiven(host)) return remotes.map((remote) => ({ ...remote, ...overridden(port, proto) }));
  const first = remotes[0] ?? { port: STANDARD_PORT, proto: "udp" as const };
  return [{ host: parseHost(host ?? ""), port: port ?? first.port, proto: proto ?? first.proto, scope }];
}

const NOTHING: Scope = { options: [], inline: new Map() };

function overridden(port: number | undefined, proto: TunnelServer["proto"] | undefined): Partial<TunnelServer> {
  return { ...(port !== undefined && { port }), ...(proto !== undefined && { proto }) };
}

/** <connection> blocks, when there are any, are the list; options outside are their defaults. */
function remotesOf({ options, inline, connections }: Profile): readonly Remote[] {
  if (connections.length === 0) return remotesIn({ options, inline });
  const defaults = options.filter(({ name }) => name !== "remote");
  return connections.flatMap((block) =>
    remotesIn({ options: [...defaults, ...block.options], inline: mergedInline(inline, block.inline) }),
  );
}

/** A block's own protection takes the place of whichever there is outside. */
function mergedInline(outside: Scope["inline"], block: Scope["inline"]): Scope["inline"] {
  const hasOwn = PROTECTIONS.some((tag) => block.has(tag));
  const kept = [...outside].filter(([tag]) => !hasOwn || !PROTECTIONS.includes(tag));
  return new Map([...kept, ...block]);
}

const PROTECTIONS: readonly string[] = ["tls-auth", "tls-crypt", "tls-crypt-v2"];

function remotesIn(scope: Scope): readonly Remote[] {
  const { options } = scope;
  const port = optionOf(options, "rport") ?? optionOf(options, "port");
  const proto = optionOf(options, "proto");
  return options
    .filter((option) => option.name === "remote")
    .map(({ parameters: [host, ownPort, ownProto] }) => {
      if (host === undefined) throw missing("remote");
      return {
        host: parseHost(host, "remote"),
        port: parsePort(ownPort ?? port?.[0] ?? String(STANDARD_PORT), "the port of remote"),
        proto: protoOf(ownProto ?? proto?.[0] ?? "udp"),
        scope,
      };
    });
}

function protoOf(text: string): "udp" | "tcp" {
  const [, proto] = /^(udp|tcp)(?:-client)?[46]?$/i.exec(text) ?? [];
  if (proto === undefined) throw new TunnelConfigError("proto must be udp or tcp");
  return proto.toLowerCase() === "tcp" ? "tcp" : "udp";
}

/** The monitor's own login, else the one in the profile. @throws TunnelConfigError when the profile asks for one and there is none */
function loginOf(fields: TunnelFields, profile: Profile | null): OpenvpnConfig["login"] {
  const [username = "", password = ""] = (profile?.inline.get("auth-user-pass") ?? "")
    .split("\n")
    .map((line) => line.trim());
  const login = { username: fields.username ?? username, password: fields.password ?? password };
  const isAsked =
    profile !== null &&
    (profile.inline.has("auth-user-pass") || optionOf(profile.options, "auth-user-pass") !== undefined);
  if (isAsked && login.username === "") throw missing("username");
  if (isAsked && login.password === "") throw missing("password");
  return login.username === "" ? null : login;
}

function isGiven(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== "";
}
