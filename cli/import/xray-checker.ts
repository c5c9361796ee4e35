/** xray-checker: it is set by variables or by words of its command line, in an env file, a compose file, or both. */
import { Draft } from "./draft.ts";
import { durationIn } from "./durations.ts";
import { ImportError, type Importer, type ImportFile } from "./importer.ts";
import { keyOf } from "./keys.ts";
import {
  booleanIn,
  cutTo,
  type Fields,
  fieldsAt,
  fieldsIn,
  isFields,
  listIn,
  memberOf,
  numberIn,
  quoted,
  textIn,
} from "./values.ts";
import { readYaml } from "./yaml.ts";

/** Its own standards, seconds. */
const CHECK_INTERVAL_S = 300;
const TIMEOUT_S = 30;
/** Of a subscription's syncs here, seconds. */
const SYNC_S = { least: 60, most: 86_400 } as const;
const TIMEOUT = { least: 10, most: 120 } as const;
/** Of a subscription, code points. */
const LONGEST_NAME = 255;
const LINK = /^(?:vless|vmess|trojan|ss|hysteria2|hy2|tuic):\/\//i;
const BASE64 = /^[A-Za-z0-9+/_=-]+$/;
/** Lines of an env file, and of a list of links. */
const MOST_LINES = 20_000;
const LEFT_OUT: Readonly<Record<string, string>> = {
  PROXY_RESOLVE_DOMAINS: "that each address of a name is a proxy of its own",
  SIMULATE_LATENCY: "the delay that it adds to its answers",
  SPEEDTEST_ENABLED: "its speed tests",
  METRICS_PUSH_URL: "the Pushgateway: Prometheus reads /metrics of this service",
  SUBSCRIPTION_HEADER:
    "headers that its subscriptions are asked with: a provider that wants them may answer otherwise here",
  SUBSCRIPTION_USER_AGENT: "the name that it asks its subscriptions by: a provider may answer another form here",
  XRAY_INTERFACE: "the interface that it connects by",
  WEB_SERVER_PAID_UNTIL: "until when servers are paid",
  WEB_CUSTOM_ASSETS_PATH: "its page's own files: a status page here has a logo, an accent and CSS",
  TELEGRAM_BOT_TOKEN: "messages by Telegram: make a channel and a rule",
  RUN_ONCE: "that it checks once and ends: sonde check does",
};

type Variables = ReadonlyMap<string, string>;

export const xrayChecker: Importer = {
  source: "xray-checker",
  title: "xray-checker",
  reads: "an env file, a compose file, or both",
  references: (files) => files.flatMap((file) => (isYaml(file) ? envFilesOf(serviceIn(file)) : [])),
  *convert(files, options) {
    const draft = new Draft("xray-checker", options);
    const variables = variablesIn(files);
    if (textIn(variables.get("SUBSCRIPTION_URL")) === undefined)
      throw new ImportError(
        `${files.map(({ name }) => name).join(", ")}: no SUBSCRIPTION_URL is set, by which xray-checker finds proxies`,
        "name the env file or the compose file that sets it",
      );
    const keys = readSubscriptions(variables, files, draft);
    sayBesides(variables, draft);
    if (booleanIn(variables.get("WEB_PUBLIC")) === true && keys.length > 0) {
      const components = [{ select: { subscriptions: keys }, merge: "each" as const }];
      draft.page("proxies", {
        slug: "proxies",
        title: "Proxies",
        published: false,
        groups: [{ title: "Proxies", components }],
      });
      draft.notes.add(
        "info",
        "WEB_PUBLIC",
        "a status page over the subscriptions is in the document, and is not published yet",
      );
    }
    return yield* draft.finish();
  },
};

function isYaml({ name, text }: ImportFile): boolean {
  return /\.ya?ml$/i.test(name) || /^services:/m.test(text);
}

/** What is set inline wins over env files, as in compose. */
function variablesIn(files: readonly ImportFile[]): Variables {
  const variables = new Map<string, string>();
  for (const file of files)
    if (!isYaml(file)) for (const [name, value] of readEnv(file.text)) variables.set(name, value);
  for (const file of files) {
    if (!isYaml(file)) continue;
    const environment = memberOf(serviceIn(file), "environment");
    const pairs = Array.isArray(environment)
      ? environment.flatMap((one) => pairIn(textIn(one) ?? ""))
      : Object.entries(fieldsIn(environment)).map(([name, value]) => [name, textOf(value)] as const);
    for (const [name, value] of pairs) variables.set(name, value);
    for (const [name, values] of wordsIn(memberOf(serviceIn(file), "command"))) variables.set(name, values.join(","));
  }
  return variables;
}

/** `--subscription-url=https://…` is SUBSCRIPTION_URL; a word that is said twice adds to it. */
function wordsIn(command: unknown): ReadonlyMap<string, readonly string[]> {
  const words = Array.isArray(command)
    ? command.flatMap((one) => textIn(one) ?? [])
    : (textIn(command) ?? "").split(/\s{1,99}/, MOST_LINES);
  const found = new Map<string, readonly string[]>();
  for (const [index, word] of words.entries()) {
    const [, name, inline] = /^--([a-z][a-z-]{1,40})(?:=(.{0,65536}))?$/s.exec(word) ?? [];
    if (name === undefined) continue;
    const next = words[index + 1];
    const value = inline ?? (next === undefined || next.startsWith("--") ? "true" : next);
    const variable = name.toUpperCase().replaceAll("-", "_");
    found.set(variable, [...(found.get(variable) ?? []), withoutQuotes(value)]);
  }
  return found;
}

function textOf(value: unknown): string {
  return typeof value === "boolean" ? String(value) : (textIn(value) ?? "");
}

/** The service that runs xray-checker: found by its image, or by its name. */
function serviceIn(file: ImportFile): Fields {
  const named = Object.entries(fieldsAt(fieldsIn(readYaml(file)), "services"));
  const services = named.flatMap(([name, service]) => (isFields(service) ? [{ name, service }] : []));
  const has = (service: Fields, field: string, word: string): boolean =>
    (JSON.stringify(memberOf(service, field)) ?? "").includes(word);
  const found =
    services.find(({ service }) => has(service, "image", "xray-checker")) ??
    services.find(({ service }) => has(service, "environment", "SUBSCRIPTION_URL")) ??
    services.find(({ service }) => has(service, "command", "--subscription-url")) ??
    services.find(
      ({ name, service }) => name.includes("xray-checker") || has(service, "container_name", "xray-checker"),
    );
  return found?.service ?? {};
}

function envFilesOf(service: Fields): readonly string[] {
  const files = memberOf(service, "env_file");
  const list = Array.isArray(files) ? files : [files];
  return list.flatMap((one) => textIn(isFields(one) ? memberOf(one, "path") : one) ?? []);
}

function readEnv(text: string): readonly (readonly [string, string])[] {
  return text.split(/\r?\n/, MOST_LINES).flatMap((line) => {
    const trimmed = line.trim();
    return trimmed.startsWith("#") ? [] : pairIn(trimmed.startsWith("export ") ? trimmed.slice(7) : trimmed);
  });
}

function pairIn(line: string): readonly (readonly [string, string])[] {
  const at = line.indexOf("=");
  if (at < 1) return [];
  return [[line.slice(0, at).trim(), withoutQuotes(line.slice(at + 1).trim())]];
}

function withoutQuotes(value: string): string {
  const isQuoted = value.length > 1 && /^["']/.test(value) && value.endsWith(value.charAt(0));
  return isQuoted ? value.slice(1, -1) : value;
}

/** @returns keys of subscriptions */
function readSubscriptions(variables: Variables, files: readonly ImportFile[], draft: Draft): readonly string[] {
  const settings = paceOf(variables, draft);
  const keys: string[] = [];
  for (const [index, place] of placesIn(variables.get("SUBSCRIPTION_URL") ?? "").entries()) {
    const path = `subscription ${index + 1}`;
    if (/^https?:\/\//i.test(place)) {
      // What stands after # is the title that it shows, and is sent to no server.
      const [url = "", name] = [place.split("#", 1)[0], nameIn(place)];
      const named = name === undefined ? {} : { name: cutTo(name, LONGEST_NAME) };
      keys.push(draft.subscription(`subscription-${index + 1}`, { url, ...named, ...settings }));
    } else if (LINK.test(place)) {
      addLinks([place], path, settings, draft);
    } else if (/^file:\/\//i.test(place)) {
      const name = place.split("/").at(-1) ?? "";
      const file = files.find((one) => one.name.split(/[\\/]/).at(-1) === name);
      if (file === undefined) draft.notes.add("lost", path, `the file ${quoted(name)}: name it, too`);
      else addLinks(linksIn(file.text), path, settings, draft);
    } else if (BASE64.test(place)) {
      addLinks(linksIn(place), path, settings, draft);
    } else {
      draft.notes.add("lost", path, "a folder, or something else that is no address: sonde add reads files one by one");
    }
  }
  return keys;
}

/** Between commas; a link may hold commas itself. */
function placesIn(text: string): readonly string[] {
  return text
    .split(/,(?=\s{0,9}(?:[a-z][a-z0-9]{1,15}:\/\/|[A-Za-z0-9+/_-]{32}))/i)
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** Line by line, or base64 of lines. */
function linksIn(text: string): readonly string[] {
  const plain = LINK.test(text.trim()) ? text : Buffer.from(text.trim(), "base64").toString("utf8");
  return plain
    .split(/\r?\n/, MOST_LINES)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

interface Pace {
  readonly syncIntervalSec: number;
  readonly timeoutSeconds: number;
}

function addLinks(
  links: readonly string[],
  path: string,
  { syncIntervalSec, timeoutSeconds }: Pace,
  draft: Draft,
): void {
  let unknown = 0;
  for (const [index, link] of links.entries()) {
    if (!LINK.test(link)) {
      unknown += 1;
      continue;
    }
    const name = nameIn(link) ?? `Proxy ${index + 1}`;
    const monitor = draft
      .monitor(`${path}, link ${index + 1}`, keyOf(name), name)
      .kind("vpn")
      .set("url", link);
    monitor.interval(syncIntervalSec).timeout(timeoutSeconds);
  }
  if (unknown > 0) draft.notes.add("lost", path, `${unknown} of its lines are no links to proxies`);
}

/** What stands after `#` in most links. */
function nameIn(link: string): string | undefined {
  const at = link.indexOf("#");
  if (at < 0) return undefined;
  try {
    return textIn(decodeURIComponent(link.slice(at + 1)).trim());
  } catch {
    return undefined;
  }
}

function paceOf(variables: Variables, draft: Draft): Pace {
  const interval = secondsIn(variables.get("PROXY_CHECK_INTERVAL")) ?? CHECK_INTERVAL_S;
  const isOnce = booleanIn(variables.get("SUBSCRIPTION_UPDATE")) === false;
  const wanted = isOnce ? SYNC_S.most : interval;
  const syncIntervalSec = Math.min(Math.max(Math.round(wanted), SYNC_S.least), SYNC_S.most);
  if (!isOnce && syncIntervalSec !== wanted)
    draft.notes.add("changed", "PROXY_CHECK_INTERVAL", `${wanted} s is ${syncIntervalSec} s here`);
  if (isOnce)
    draft.notes.add(
      "changed",
      "SUBSCRIPTION_UPDATE",
      "a subscription here is read once a day at least, and its proxies are checked as often",
    );
  else if (variables.has("SUBSCRIPTION_UPDATE_INTERVAL"))
    draft.notes.add(
      "changed",
      "SUBSCRIPTION_UPDATE_INTERVAL",
      "a subscription here is read as often as its proxies are checked",
    );
  const timeout = secondsIn(variables.get("PROXY_TIMEOUT")) ?? TIMEOUT_S;
  return { syncIntervalSec, timeoutSeconds: Math.min(Math.max(Math.round(timeout), TIMEOUT.least), TIMEOUT.most) };
}

function secondsIn(value: string | undefined): number | undefined {
  return numberIn(value) ?? durationIn(value);
}

function sayBesides(variables: Variables, draft: Draft): void {
  const method = textIn(variables.get("PROXY_CHECK_METHOD")) ?? "ip";
  const places: Readonly<Record<string, readonly [name: string, form: string]>> = {
    ip: ["PROXY_IP_CHECK_URL", "#ip"],
    status: ["PROXY_STATUS_CHECK_URL", "#204"],
  };
  const [name, form] = memberOf(places, method) ?? [];
  const url = name === undefined ? undefined : textIn(variables.get(name));
  if (url !== undefined)
    draft.notes.add("info", name ?? "", `SONDE_VERIFY_URLS=${quoted(url)}${form} asks the same through each proxy`);
  if (method === "download")
    draft.notes.add("lost", "PROXY_CHECK_METHOD", "a download as the check: an address is asked through each proxy");
  for (const [variable, what] of Object.entries(LEFT_OUT)) {
    const value = textIn(variables.get(variable));
    if (value !== undefined && value !== '""' && booleanIn(value) !== false) draft.notes.add("lost", variable, what);
  }
  if (listIn([...variables.keys()].filter((one) => one.startsWith("METRICS_"))).length > 0)
    draft.notes.add("info", "METRICS_", "Prometheus reads /metrics of this service");
}
