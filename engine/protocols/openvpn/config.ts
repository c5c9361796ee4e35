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
  /** Of `udp6`, `tcp4` and the like: addresses of the other family are not the profile's. */
  readonly family: Family;
  /** What the profile says for this server: everything outside of <connection> blocks, and over it what its own block has. */
  readonly scope: Scope;
}

type Family = "ipv4" | "ipv6" | "both";

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
  const secret = login?.password ?? profile?.inline.get("key") ?? "";
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
    identity: account === null ? null : identityOf("openvpn", account, secret, server),
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
    return fields.servers.map((server) => ({
      ...server,
      host: parseHost(server.host, "a server's host"),
      family: "both",
      scope,
    }));
  }
  const { host, port, proto } = fields;
  if (!isGiven(host)) return remotes.map((remote) => ({ ...remote, ...overridden(port, proto) }));
  const first = remotes[0] ?? { port: STANDARD_PORT, proto: "udp" as const };
  return [
    { host: parseHost(host ?? ""), port: port ?? first.port, proto: proto ?? first.proto, family: "both", scope },
  ];
}

const NOTHING: Scope = { options: [], inline: new Map() };

function overridden(port: number | undefined, proto: TunnelServer["proto"] | undefined): Partial<TunnelServer> {
  return { ...(port !== undefined && { port }), ...(proto !== undefined && { proto }) };
}

/** <connection> blocks, when there are any, are the list; options outside are their defaults. */
function remotesOf({ options, inline, connections }: Profile): readonly Remote[] {
  if (connections.length === 0) return forced(remotesIn({ options, inline }), options);
  const remotes = connections.flatMap((block) => {
    const line = block.options[0]?.line ?? 0;
    const defaults = options.filter((option) => !OF_CONNECTIONS.has(option.name) || option.line < line);
    return remotesIn({
      options: [...defaults.filter(({ name }) => name !== "remote"), ...block.options],
      inline: mergedInline(inline, block.inline),
    });
  });
  return forced(remotes, options);
}

/** They begin with what stands above them; other options count wherever they stand (options.c, `connection`). */
const OF_CONNECTIONS: ReadonlySet<string> = new Set(["proto", "port", "rport", "fragment"]);

/** `proto-force` leaves out the remotes of the other kind. */
function forced(remotes: readonly Remote[], options: Scope["options"]): readonly Remote[] {
  const text = optionOf(options, "proto-force")?.[0];
  if (text === undefined) return remotes;
  const { proto } = carrierOf(text);
  const left = remotes.filter((remote) => remote.proto === proto);
  if (left.length === 0) throw new TunnelConfigError(`proto-force ${proto} leaves no remote`);
  return left;
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
        ...carrierOf(ownProto ?? proto?.[0] ?? "udp"),
        scope,
      };
    });
}

/** `udp`, `tcp4`, `tcp6-client` (socket.c, proto_names). */
function carrierOf(text: string): Pick<Remote, "proto" | "family"> {
  const [, proto, family] = /^(udp|tcp)([46])?(?:-client)?$/i.exec(text) ?? [];
  if (proto === undefined) throw new TunnelConfigError("proto must be udp or tcp");
  return {
    proto: proto.toLowerCase() === "tcp" ? "tcp" : "udp",
    family: family === undefined ? "both" : family === "4" ? "ipv4" : "ipv6",
  };
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
