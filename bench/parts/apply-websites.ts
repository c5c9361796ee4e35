/** Websites made in bulk, where making them is not what is measured: one document of thousands. */
import type { Client } from "../../cli/client.ts";
import { targetHost } from "../uptime/target-address.ts";

/** Of one document: 4 MiB hold more. */
const AT_ONCE = 5_000;
const MOST_WAIT_MS = 300_000;
/** Of one list. */
const PAGE = 1_000;

/** @returns their ids, the one of website n at place n */
export async function applyWebsites(
  client: Client,
  port: number,
  { monitors, intervalS }: { readonly monitors: number; readonly intervalS: number },
): Promise<readonly string[]> {
  for (let from = 0; from < monitors; from += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, monitors - from) }, (_, index) => from + index);
    const entries = numbers.map((n) => {
      const where = { type: "http", name: `bench ${n}`, url: `http://${targetHost(n)}:${port}/${n}` };
      return [`bench-${n}`, { ...where, interval: intervalS, timeout: 10, maxretries: 2 }];
    });
    const body = {
      document: JSON.stringify({ sonde: 1, monitors: Object.fromEntries(entries) }),
      name: `bench-${from}`,
    };
    const { hash } = await client.post<{ hash: string }>("/apply", { ...body, dry_run: true }, MOST_WAIT_MS);
    await client.post("/apply", { ...body, expect: hash }, MOST_WAIT_MS);
  }
  return idsByNumber(client, monitors);
}

async function idsByNumber(client: Client, monitors: number): Promise<readonly string[]> {
  const ids: string[] = new Array(monitors);
  for (let offset = 0; offset < monitors; offset += PAGE) {
    const { servers } = await client.get<{ servers: readonly { id: string; name: string }[] }>("/servers", {
      family: "all",
      limit: PAGE,
      offset,
    });
    for (const { id, name } of servers) ids[Number(name.slice("bench ".length))] = id;
  }
  return ids;
}
