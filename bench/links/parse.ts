/**
 * Reading: links a second on one thread; subscriptions of up to 20,000 entries in every kind of body, listed and compared with the list
 * before, and how long that holds the event loop.
 */
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { parseProxyLink } from "../../engine/protocols/share-link/proxy-link.ts";
import { entriesOf } from "../../engine/subscription/body.ts";
import { listServers, type ServerList } from "../../engine/subscription/list.ts";
import { type FormerServer, type ListedServer, planSync } from "../../model/sync.ts";
import { providerLinks } from "./links.ts";

const ROUNDS = 9;
const ENTRIES = 20_000;
/** Of a fetched body (docs/api-contract.md#subscriptions), bytes. */
const LARGEST_BODY = 5 * 1024 * 1024;

export async function runParse(): Promise<void> {
  const links = providerLinks(ENTRIES);
  const rates = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    const startedAt = performance.now();
    for (const link of links) parseProxyLink(link);
    const wallMs = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(before);
    return { wall: (links.length / wallMs) * 1_000, cpu: (links.length / (user + system)) * 1e6 };
  });
  const best = (of: "wall" | "cpu"): string => Math.max(...rates.map((rate) => rate[of])).toFixed(0);
  const middle = [...rates].sort((one, other) => one.wall - other.wall)[ROUNDS >> 1]?.wall ?? 0;
  console.log(
    `${ENTRIES} links of ten sorts, ${ROUNDS} rounds: ${middle.toFixed(0)}/s in the middle, ${best("wall")}/s at best (${best("cpu")} per CPU second)`,
  );
  for (const [name, body] of bodies(links)) await readBody(name, body);
}

function bodies(links: readonly string[]): ReadonlyMap<string, string> {
  const lines = links.join("\n");
  const clash = links.map(
    (_, index) =>
      `  - {name: "node ${index}", type: vless, server: s${index >> 2}.nodes.test-provider.org, port: ${2_000 + index}, uuid: 3f1d6a52-7f0c-4c1e-9b7e-2d5a8c4e6b10, network: ws, tls: true, ws-opts: {path: /w, headers: {Host: c.test-provider.org}}}`,
  );
  const singbox = links.map((_, index) =>
    JSON.stringify({
      type: "trojan",
      tag: `node ${index}`,
      server: `s${index >> 2}.nodes.test-provider.org`,
      server_port: 2_000 + index,
      password: `password ${index}`,
      tls: { enabled: true, server_name: "c.test-provider.org" },
    }),
  );
  return new Map([
    ["lines", cut(links).join("\n")],
    ["base64", Buffer.from(lines.slice(0, Math.floor(LARGEST_BODY * 0.74))).toString("base64")],
    ["Clash's YAML", `proxies:\n${cut(clash).join("\n")}\n`],
    ["sing-box's JSON", `{"outbounds":[${cut(singbox).join(",")}]}`],
  ]);
}

/** As many as a body may hold. */
function cut(entries: readonly string[]): readonly string[] {
  let sizeBytes = 100;
  return entries.filter((entry) => {
    sizeBytes += Buffer.byteLength(entry) + 1;
    return sizeBytes <= LARGEST_BODY;
  });
}

async function readBody(name: string, body: string): Promise<void> {
  const former = await formerOf(await listServers(entriesOf(body), turn));
  await turn();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  // It looks from one of its ticks to the next: without one before the work the first stretch would not be seen.
  await sleep(20);
  const startedAt = performance.now();
  const list = await listServers(entriesOf(body), turn);
  const plan = planSync({ former, listed: await listedOf(list), excluded: new Set(), freeSlots: null });
  const wallMs = performance.now() - startedAt;
  await sleep(20);
  delay.disable();
  console.log(
    `${name.padEnd(16)} ${(body.length / 1e6).toFixed(1)} MB, ${list.configCount} configs at ${list.servers.length} servers, ${plan.changed.length} changed: read and compared in ${wallMs.toFixed(0)} ms, event loop held for ${(delay.max / 1e6).toFixed(0)} ms at most`,
  );
}

/** Slice by slice, as the sync does it; without its seals and keyed hashes. */
async function listedOf({ servers }: ServerList): Promise<readonly ListedServer[]> {
  const listed: ListedServer[] = [];
  for (const { host, configs } of servers) {
    if (listed.length % 100 === 99) await turn();
    listed.push({
      address: host,
      name: configs[0]?.names[0] ?? null,
      configs: configs.map(({ identity, names, config }) => ({
        identity,
        tag: names[0] ?? "",
        type: config.account.protocol,
        port: config.port,
        sealed: "",
      })),
    });
  }
  return listed;
}

/** Every third server had another config before. */
async function formerOf(list: ServerList): Promise<readonly FormerServer[]> {
  return (await listedOf(list)).map(({ address, name, configs }, index) => ({
    monitorId: index,
    address,
    name,
    kind: "vless",
    configCount: configs.length,
    pauseReasons: [],
    configs: configs.map((config, position) => ({
      id: index * 256 + position,
      identity: index % 3 === 0 ? "another" : config.identity,
      position,
      tag: config.tag,
      port: config.port,
    })),
  }));
}
