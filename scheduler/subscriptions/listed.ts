/** A provider's list as the store keeps it. Each config is a sealed link with a keyed hash as its identity and a name that is safe to show. */
import { createHmac } from "node:crypto";
import { TunnelConfigError } from "../../engine/contract/tunnel.ts";
import { plainText } from "../../engine/net/classify.ts";
import { parseProxyLink } from "../../engine/protocols/share-link/proxy-link.ts";
import { writeLink } from "../../engine/protocols/share-link/write-link.ts";
import { identityOfConfig, type ListedConfig as ReadConfig, type ServerList } from "../../engine/subscription/list.ts";
import type { ListedConfig, ListedServer } from "../../model/sync.ts";

/** Configs that are made ready before other work gets the thread: some milliseconds. */
const SLICE = 100;
/** The reason that is shown for a config whose settings a link cannot express. */
const NOT_A_LINK = "settings that no link can hold";

export interface ListedOptions {
  /** Key of the identities' hashes: with a plain hash of a config, a reader of the database could test a guess. */
  readonly key: string;
  /** Seals the fields of a config, as those of a monitor are. */
  readonly seal: (identity: string, fields: string) => string;
  /** Lets other work on the thread run. */
  readonly breathe: () => Promise<void>;
}

export interface Listed {
  readonly servers: readonly ListedServer[];
  readonly unsupported: Readonly<Record<string, number>>;
}

export async function listedOf(list: ServerList, { key, seal, breathe }: ListedOptions): Promise<Listed> {
  const servers: ListedServer[] = [];
  let made = 0;
  let lost = 0;
  for (const { host, configs } of list.servers) {
    const kept: ListedConfig[] = [];
    for (const config of configs) {
      if (++made % SLICE === 0) await breathe();
      const url = linkOf(config);
      if (url === undefined) lost++;
      else {
        const identity = createHmac("sha256", key).update(config.identity).digest("base64url");
        kept.push(configOf(config, identity, seal(identity, url)));
      }
    }
    const labels = configs.map(({ names: [label] }) => plainText(label ?? "").trim()).filter((label) => label !== "");
    if (kept.length > 0) servers.push({ address: host, name: nameOfServer(labels), configs: kept });
  }
  return { servers, unsupported: lost === 0 ? list.unsupported : { ...list.unsupported, [NOT_A_LINK]: lost } };
}

/** What separates the server from its ways in `Berlin | WS`, `Berlin-gRPC`. */
const SEPARATORS: ReadonlySet<string | undefined> = new Set(" |/\\:;,·•_()[]{}#–—-");

/**
 * Providers label each config; of a server with several, no label is the server's own. So it is called by the whole words with which all of
 * them begin; null where there are none: its address is its name then.
 */
export function nameOfServer(labels: readonly string[]): string | null {
  const [first = "", ...others] = labels;
  if (others.every((other) => other === first)) return first === "" ? null : first;
  let end = first.length;
  for (const other of others) {
    let same = 0;
    while (same < end && first[same] === other[same]) same++;
    end = same;
  }
  const isWhole = labels.every((label) => label.length === end || SEPARATORS.has(label[end]));
  if (!isWhole) while (end > 0 && !SEPARATORS.has(first[end - 1])) end--;
  while (end > 0 && SEPARATORS.has(first[end - 1])) end--;
  const name = first.slice(0, end);
  return /[\p{L}\p{N}]/u.test(name) ? name : null;
}

/** The fields of a config; undefined when a link cannot express all of them. */
function linkOf({ config, identity }: ReadConfig): string | undefined {
  const url = writeLink({ config, name: null });
  try {
    return identityOfConfig(parseProxyLink(url).config) === identity ? JSON.stringify({ url }) : undefined;
  } catch (error) {
    if (error instanceof TunnelConfigError) return undefined;
    throw error;
  }
}

function configOf({ config, names }: ReadConfig, identity: string, sealed: string): ListedConfig {
  const { host, port, account } = config;
  const tag = plainText(names[0] ?? "");
  return { identity, tag: tag === "" ? `${host}:${port}` : tag, type: account.protocol, port, sealed };
}
