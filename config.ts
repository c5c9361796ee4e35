/** The only reader of process.env: one schema, defaults, units in names. docs/use/settings.md has a row for each. */

import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { z } from "zod";
import type { EngineOptions } from "./engine/contract/options.ts";
import type { CorePaths } from "./engine/cores/program.ts";
import { nearestOf } from "./model/nearest.ts";
import { type OidcSettings, oidcSettingsOf } from "./model/oidc-settings.ts";
import { LIMITS, type Limits, overridePlans, type PlanTable, standardPlans } from "./model/plan.ts";
import { parseSender, parseSmtpUrl } from "./model/smtp-url.ts";
import { withoutTrailing } from "./model/text.ts";
import { hostInUrl, isLoopbackUrl, parseUrl } from "./model/url.ts";

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** Comma-separated words; blanks dropped. */
const list = z
  .string()
  .default("")
  .transform((text) =>
    text
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== ""),
  );
const optionalText = z
  .string()
  .optional()
  .transform((text) => (text === undefined || text.trim() === "" ? null : text.trim()));
/** Digits alone: `Number("")` is 0, and port 0 is any free one. */
function whole(from: number, to: number, error = `must be a whole number from ${from} to ${to}`) {
  return z
    .string()
    .refine((text) => /^\d{1,5}$/.test(text) && Number(text) >= from && Number(text) <= to, error)
    .transform(Number);
}

function urlWith(...schemes: readonly string[]) {
  return optionalText.refine(
    (text) => text === null || schemes.includes(parseUrl(text)?.protocol ?? ""),
    `must be a URL that begins with ${schemes.map((scheme) => `${scheme}//`).join(" or ")}`,
  );
}

function isPlainAddress(text: string | null): boolean {
  return text === null || /^https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?$/i.test(text);
}

/** Of a cap: each check in flight has a descriptor or more. */
const MOST_CHECKS = 65_536;

const schema = z.object({
  SONDE_HOST: z
    .string()
    .trim()
    .min(1, "must be an address or a name: an empty one would be all addresses of this machine")
    .default("127.0.0.1"),
  SONDE_PORT: whole(0, 65_535, "must be a port, 0 to 65535").default(8080),
  SONDE_BASE_URL: urlWith("http:", "https:").refine(
    isPlainAddress,
    "must be http:// or https:// and a host, without a user, ? or #: paths are put behind it",
  ),
  SONDE_DATA_DIR: z.string().min(1).default("./data"),
  SONDE_DATABASE_URL: urlWith("postgres:", "postgresql:"),
  SONDE_CLICKHOUSE_URL: urlWith("http:", "https:"),
  SONDE_REDIS_URL: urlWith("redis:", "rediss:"),
  SONDE_ALLOW_NETS: list,
  SONDE_PUBLIC_ALLOW_NETS: list,
  SONDE_DOCS_URL: urlWith("http:", "https:"),
  SONDE_RESOLVERS: list,
  SONDE_EXTRA_CA: optionalText,
  SONDE_CANARIES: z.string().optional(),
  SONDE_TUNNEL_TARGETS: list,
  SONDE_VERIFY_URLS: list,
  SONDE_SEALING_KEY_FILE: optionalText,
  SONDE_XRAY: optionalText,
  SONDE_SING_BOX: optionalText,
  SONDE_RDAP_BOOTSTRAP: urlWith("http:", "https:"),
  SONDE_METRICS_TOKEN: optionalText,
  SONDE_MONITOR_METRICS: whole(0, 10_000, "must be a whole number from 0 to 10000").default(0),
  SONDE_TRUSTED_PROXIES: list,
  SONDE_SMTP_URL: optionalText.refine(
    (text) => text === null || parseSmtpUrl(text) !== undefined,
    "must be smtps://user:password@host:465 or smtp://user:password@host:587",
  ),
  SONDE_MAIL_FROM: optionalText.refine(
    (text) => text === null || parseSender(text) !== undefined,
    "must be a mail address, or Name <address>",
  ),
  SONDE_OIDC_ISSUER: urlWith("https:", "http:"),
  SONDE_OIDC_CLIENT_ID: optionalText,
  SONDE_OIDC_CLIENT_SECRET: optionalText,
  SONDE_OIDC_CLIENT_SECRET_FILE: optionalText,
  SONDE_OIDC_EMAIL_CLAIM: z
    .string()
    .regex(/^[\w:./-]{1,100}$/, "must be the name of a claim, such as email")
    .default("email"),
  SONDE_OIDC_AUTO_MEMBER: list,
  SONDE_LIMITS: z.enum(LIMITS, { error: `must be ${LIMITS.join(" or ")}` }).optional(),
  SONDE_PLANS: optionalText,
  SONDE_WORKERS: whole(0, 64).optional(),
  SONDE_CHECKS_AT_ONCE: whole(1, MOST_CHECKS).optional(),
  SONDE_CHECKS_PER_HOST: whole(1, MOST_CHECKS).optional(),
  SONDE_CHECKS_PER_WORKSPACE: whole(1, MOST_CHECKS).optional(),
  SONDE_RECENT_MB: whole(4, 65_536).default(128),
  SONDE_LOG: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(", ")}` }).default("info"),
  SONDE_WEB: z.enum(["on", "off"], { error: "must be on or off" }).default("on"),
  SONDE_STATUS_INDEX: z.enum(["on", "off"], { error: "must be on or off" }).default("off"),
  SONDE_REVEAL_LINKS: z.enum(["on", "off"], { error: "must be on or off" }).default("off"),
  SONDE_MAX_STREAMS: whole(1, 10_000, "must be a whole number from 1 to 10000").default(200),
  /** Our own reader on node:net, or node:http. */
  SONDE_HTTP: z.enum(["net", "node"], { error: "must be net or node" }).default("net"),
  SONDE_DEBUGGABLE: z.enum(["0", "1"], { error: "must be 0 or 1" }).default("0"),
});

/** Every setting of a process that serves or checks. */
export const SETTINGS = Object.keys(schema.shape);
/** Of commands that ask a running service. */
const CLIENT_SETTINGS = ["SONDE_URL", "SONDE_KEY", "SONDE_PROJECT"] as const;
const KNOWN = new Set([...SETTINGS, ...CLIENT_SETTINGS]);
const PREFIX = "SONDE_";
/** What tests pass to the programs that they start beside ours. */
const OF_TESTS = `${PREFIX}TEST_`;

/** @throws ConfigError for a name that is no setting: a misspelt one would leave its default in place, unnoticed */
function refuseUnknown(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || name.startsWith(OF_TESTS) || KNOWN.has(name)) continue;
    const meant = nearestOf(name, KNOWN);
    const advice = meant === undefined ? "docs/use/settings.md lists them" : `is ${meant} meant?`;
    throw new ConfigError(`${name} is no setting: ${advice}`);
  }
}

/** Settings that are secrets, or hold one. */
const SECRETS = [
  "SONDE_DATABASE_URL",
  "SONDE_CLICKHOUSE_URL",
  "SONDE_REDIS_URL",
  "SONDE_METRICS_TOKEN",
  "SONDE_SMTP_URL",
  "SONDE_OIDC_CLIENT_SECRET",
  "SONDE_KEY",
] as const;
/** Of a service manager's credentials (systemd.exec(5), LoadCredential=): the key that seals, and a checker's. */
const SEALING_CREDENTIAL = "sealing.key";
const LOCATION_CREDENTIAL = "location.key";
/** What our units set where there is no such file: systemd 252 takes no empty credential. */
const NO_CREDENTIAL = "none";

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Without a trailing slash; null until the port is known. */
  readonly baseUrl: string | null;
  readonly docsUrl: string | null;
  /** Absolute. */
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly clickhouseUrl: string | null;
  readonly redisUrl: string | null;
  readonly allowNets: readonly string[];
  readonly publicAllowNets: readonly string[];
  readonly resolvers: readonly string[];
  readonly extraCaPem: string | null;
  readonly canaries: readonly string[] | null;
  /** Null: the standard ones. */
  readonly tunnelTargets: readonly string[] | null;
  /** Null: the standard ones. */
  readonly verifyUrls: readonly string[] | null;
  readonly cores: CorePaths;
  /** Absolute; null: in the data folder. */
  readonly sealingKeyFile: string | null;
  /** Of a checker's location, as the service manager gives it; null: it does not. */
  readonly locationKeyFile: string | null;
  /** Where the service manager puts secrets, whose modes are its own affair; null: it has none for us. */
  readonly credentialsDir: string | null;
  readonly rdapBootstrapUrl: string | null;
  readonly metricsToken: string | null;
  /** Monitors that have series of their own in the metrics; 0: none. */
  readonly monitorMetrics: number;
  readonly trustedProxies: readonly string[];
  /** The service's mail server, and whom its mails are from; both or neither. */
  readonly mail: { readonly smtpUrl: string | null; readonly from: string | null };
  /** The provider of identities that people sign in at; null: none. */
  readonly oidc: OidcSettings | null;
  readonly plans: PlanTable;
  /** Probe threads; null: one less than the machine has cores. 0 is for a scheduler only: see checkThreads(). */
  readonly workers: number | null;
  /** Checks in flight at the same time, as they were set; null: the standard cap. */
  readonly caps: Readonly<Record<"overall" | "perHost" | "perWorkspace", number | null>>;
  /** What the newest results may take in memory. */
  readonly recentBytes: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** The page is served. */
  readonly hasPage: boolean;
  /** `/status` lists the public status pages that want to be listed. */
  readonly hasStatusIndex: boolean;
  /** Whether the API hands out the share links of subscriptions. */
  readonly revealsLinks: boolean;
  /** Answers that go on, at one time. */
  readonly maxStreams: number;
  readonly httpServer: "net" | "node";
  /** Other processes of our user may look into us: debuggers, profilers, core dumps. */
  readonly isDebuggable: boolean;
}

/** A setting that cannot be used: one line that names it and says what to do. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** @param standardLimits of the role; without one: off on one machine's own data, contract on a database that others may share */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
  standardLimits?: Limits,
): Config {
  refuseUnknown(env);
  const values = read(schema, env);
  const sealingKeyFile =
    absolute(values.SONDE_SEALING_KEY_FILE) ?? credential(env.CREDENTIALS_DIRECTORY, SEALING_CREDENTIAL);
  if (values.SONDE_DATABASE_URL !== null && sealingKeyFile === null) {
    throw new ConfigError(
      "SONDE_SEALING_KEY_FILE is required when SONDE_DATABASE_URL is set: the key must not live beside one machine's data",
    );
  }
  const limits = values.SONDE_LIMITS ?? standardLimits ?? (values.SONDE_DATABASE_URL === null ? "off" : "contract");
  return {
    host: values.SONDE_HOST,
    port: values.SONDE_PORT,
    baseUrl: values.SONDE_BASE_URL === null ? null : withoutTrailing(values.SONDE_BASE_URL, "/"),
    docsUrl: values.SONDE_DOCS_URL === null ? null : withoutTrailing(values.SONDE_DOCS_URL, "/"),
    dataDir: resolve(values.SONDE_DATA_DIR),
    databaseUrl: values.SONDE_DATABASE_URL,
    clickhouseUrl: values.SONDE_CLICKHOUSE_URL,
    redisUrl: values.SONDE_REDIS_URL,
    allowNets: values.SONDE_ALLOW_NETS,
    publicAllowNets: values.SONDE_PUBLIC_ALLOW_NETS,
    resolvers: values.SONDE_RESOLVERS,
    extraCaPem: values.SONDE_EXTRA_CA === null ? null : readSetting("SONDE_EXTRA_CA", values.SONDE_EXTRA_CA),
    canaries: values.SONDE_CANARIES === undefined ? null : list.parse(values.SONDE_CANARIES),
    tunnelTargets: values.SONDE_TUNNEL_TARGETS.length === 0 ? null : values.SONDE_TUNNEL_TARGETS,
    verifyUrls: values.SONDE_VERIFY_URLS.length === 0 ? null : values.SONDE_VERIFY_URLS,
    cores: corePathsOf(values, env),
    sealingKeyFile,
    locationKeyFile: credential(env.CREDENTIALS_DIRECTORY, LOCATION_CREDENTIAL),
    credentialsDir: env.CREDENTIALS_DIRECTORY ?? null,
    rdapBootstrapUrl: values.SONDE_RDAP_BOOTSTRAP,
    metricsToken: values.SONDE_METRICS_TOKEN,
    monitorMetrics: values.SONDE_MONITOR_METRICS,
    trustedProxies: values.SONDE_TRUSTED_PROXIES,
    oidc: oidcOf(values),
    mail: mailOf(values.SONDE_SMTP_URL, values.SONDE_MAIL_FROM),
    plans: values.SONDE_PLANS === null ? standardPlans(limits) : readPlans(values.SONDE_PLANS, standardPlans(limits)),
    workers: values.SONDE_WORKERS ?? null,
    caps: {
      overall: values.SONDE_CHECKS_AT_ONCE ?? null,
      perHost: values.SONDE_CHECKS_PER_HOST ?? null,
      perWorkspace: values.SONDE_CHECKS_PER_WORKSPACE ?? null,
    },
    recentBytes: values.SONDE_RECENT_MB * 1_048_576,
    logLevel: values.SONDE_LOG,
    revealsLinks: values.SONDE_REVEAL_LINKS === "on",
    hasPage: values.SONDE_WEB === "on",
    hasStatusIndex: values.SONDE_STATUS_INDEX === "on",
    maxStreams: values.SONDE_MAX_STREAMS,
    httpServer: values.SONDE_HTTP,
    isDebuggable: values.SONDE_DEBUGGABLE === "1",
  };
}

/** @throws ConfigError that names the first one that cannot be used */
function read<Shape extends z.ZodRawShape>(
  settings: z.ZodObject<Shape>,
  env: Readonly<Record<string, string | undefined>>,
): z.infer<z.ZodObject<Shape>> {
  const parsed = settings.safeParse(env);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ConfigError(`${issue?.path.join(".") ?? "environment"} ${issue?.message ?? "is not usable"}`);
}

/** Where the service manager put a key; null: nowhere, or the word that there is none. @throws ConfigError when it cannot be read */
function credential(folder: string | undefined, name: string): string | null {
  if (folder === undefined || folder === "") return null;
  const path = join(folder, name);
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const isKey = size > NO_CREDENTIAL.length + 1 || (size > 0 && readFileSync(path, "utf8").trim() !== NO_CREDENTIAL);
    return isKey ? path : null;
  } catch (error) {
    // Another key in its place would seal what nothing opens later.
    throw new ConfigError(`the credential ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Threads of a process that checks. @throws ConfigError when it would have none */
export function checkThreads({ workers }: Pick<Config, "workers">, cores: number): number {
  if (workers === 0) {
    throw new ConfigError(
      "SONDE_WORKERS must be a whole number from 1 to 64: only sonde scheduler works without threads that check",
    );
  }
  return workers ?? Math.max(1, cores - 1);
}

/** Once they were loaded: what starts later in this process, or is started by it, has no business with them. */
export function forgetSecrets(env: Record<string, string | undefined> = process.env): void {
  for (const name of SECRETS) delete env[name];
}

/** The part of the settings that goes to each prober. */
export function engineOptionsOf(
  config: Config,
  listeners?: { readonly entries: readonly string[]; readonly memory: SharedArrayBuffer },
): EngineOptions {
  return {
    allowNets: config.allowNets,
    publicAllowNets: config.publicAllowNets,
    ownEndpoints: listeners?.entries ?? [],
    ...(listeners !== undefined && { ownBoard: listeners.memory }),
    resolvers: config.resolvers,
    extraCaPem: config.extraCaPem,
    rdapBootstrapUrl: config.rdapBootstrapUrl,
    canaries: config.canaries,
    ...(config.tunnelTargets !== null && { tunnelTargets: config.tunnelTargets }),
    ...(config.verifyUrls !== null && { verifyUrls: config.verifyUrls }),
    baseUrl: config.baseUrl,
    cores: config.cores,
  };
}

function mailOf(smtpUrl: string | null, from: string | null): Config["mail"] {
  if ((smtpUrl === null) !== (from === null))
    throw new ConfigError("SONDE_SMTP_URL and SONDE_MAIL_FROM belong together: a mail server, and whom mails are from");
  return { smtpUrl, from };
}

function oidcOf(values: z.infer<typeof schema>): OidcSettings | null {
  const [text, file] = [values.SONDE_OIDC_CLIENT_SECRET, values.SONDE_OIDC_CLIENT_SECRET_FILE];
  if (text !== null && file !== null)
    throw new ConfigError("SONDE_OIDC_CLIENT_SECRET and SONDE_OIDC_CLIENT_SECRET_FILE are one secret: set one of them");
  const settings = oidcSettingsOf({
    issuer: values.SONDE_OIDC_ISSUER,
    clientId: values.SONDE_OIDC_CLIENT_ID,
    clientSecret: file === null ? text : readSetting("SONDE_OIDC_CLIENT_SECRET_FILE", file).trim(),
    emailClaim: values.SONDE_OIDC_EMAIL_CLAIM,
    autoMembers: values.SONDE_OIDC_AUTO_MEMBER,
    baseUrl: values.SONDE_BASE_URL,
  });
  if (typeof settings === "string") throw new ConfigError(settings);
  return settings;
}

function absolute(path: string | null): string | null {
  return path === null || isAbsolute(path) ? path : resolve(path);
}

function readSetting(setting: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError(
      `${setting}: cannot read ${path} (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`,
    );
  }
}

function readPlans(path: string, defaults: PlanTable): PlanTable {
  const text = readSetting("SONDE_PLANS", path);
  let overrides: unknown;
  try {
    overrides = JSON.parse(text);
  } catch {
    throw new ConfigError(`SONDE_PLANS: ${path} is not valid JSON`);
  }
  try {
    return overridePlans(overrides, defaults);
  } catch (error) {
    throw new ConfigError(`${error instanceof Error ? error.message : String(error)} (in ${path})`);
  }
}

/** Where the programs of the proxy cores are looked for. */
export function loadCorePaths(env: Readonly<Record<string, string | undefined>> = process.env): CorePaths {
  refuseUnknown(env);
  return corePathsOf(read(schema.pick({ SONDE_XRAY: true, SONDE_SING_BOX: true, SONDE_DATA_DIR: true }), env), env);
}

function corePathsOf(
  values: Pick<z.infer<typeof schema>, "SONDE_XRAY" | "SONDE_SING_BOX" | "SONDE_DATA_DIR">,
  env: Readonly<Record<string, string | undefined>>,
): CorePaths {
  return {
    xray: absolute(values.SONDE_XRAY),
    singbox: absolute(values.SONDE_SING_BOX),
    dataDir: resolve(values.SONDE_DATA_DIR),
    path: env.PATH ?? "",
  };
}

/** Where the command line finds a running service, and as whom it asks. */
export interface ClientConfig {
  /** Without a trailing slash and without /api/v1. */
  readonly url: string;
  readonly key: string | null;
  /** `prj_1` or `1`; null: the default project of the key. */
  readonly project: string | null;
}

/** Words on the command line win over the environment; without either, the service and the key of the data folder here. */
export function loadClientConfig(
  words: { readonly url?: string; readonly key?: string; readonly project?: string },
  env: Readonly<Record<string, string | undefined>> = process.env,
): ClientConfig {
  refuseUnknown(env);
  const url =
    words.url ??
    env.SONDE_URL ??
    env.SONDE_BASE_URL ??
    `http://${hostInUrl(env.SONDE_HOST ?? "127.0.0.1")}:${env.SONDE_PORT ?? "8080"}`;
  if (parseUrl(url) === undefined)
    throw new ConfigError(`${url} is not a URL: give --url or SONDE_URL, such as http://127.0.0.1:8080`);
  // An address that was given may be of another machine, which must not get the key of this one's owner by chance.
  const isOwn = (words.url ?? env.SONDE_URL) === undefined || env.SONDE_DATA_DIR !== undefined || isLoopbackUrl(url);
  return {
    url: withoutTrailing(url, "/").replace(/\/api\/v1$/, ""),
    key: words.key ?? env.SONDE_KEY ?? (isOwn ? readOwnerKey(env.SONDE_DATA_DIR ?? "./data") : null),
    project: words.project ?? env.SONDE_PROJECT ?? null,
  };
}

/** What the placeholders of a document may name: the user's own environment. */
export function documentEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** The user has chosen the data folder. */
export function hasDataDir(): boolean {
  return process.env.SONDE_DATA_DIR !== undefined;
}

/** A terminal that cannot move its cursor (terminfo's name for it), such as an editor's shell. */
export function hasDumbTerminal(): boolean {
  return process.env.TERM === "dumb";
}

/** @throws ConfigError for one that is there and cannot be read */
function readOwnerKey(dataDir: string): string | null {
  const path = resolve(dataDir, OWNER_KEY_FILE);
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    throw new ConfigError(
      `cannot read the key in ${path} (${code}): set SONDE_KEY, or run this as the user that the service runs as`,
    );
  }
}

/** In the data folder: the key of the first start, 0600. */
export const OWNER_KEY_FILE = "owner.key";
