/** The demo's monitors, created through the API like any others: one for each of its targets, and a subscription where a core is. */
import type { Client, MonitorRow } from "../cli/client.ts";
import { askingMonitors } from "./asked.ts";
import type { DemoLinks } from "./links.ts";
import type { DemoKind, DemoTargets } from "./targets.ts";
import type { DemoTunnel } from "./tunnels/index.ts";

const LOOPBACK = "127.0.0.1";
/** Marks the demo's monitors, so that the next demo in its own folder replaces them. */
const TAG = "demo";
const PROVIDER = "Demo provider";
/** Seconds instead of minutes, because a user is watching. */
const OFTEN = { interval: 2, timeout: 10, tags: [TAG] };
/** Each check of a tunnel is a login of its own. */
const TUNNEL_INTERVAL_S = 10;
/** The shortest of a subscription. */
const SYNC_INTERVAL_S = 60;

/** What the demo opened for its monitors. */
export interface Watched {
  readonly kinds: readonly DemoKind[];
  readonly targets: DemoTargets;
  readonly tunnels: readonly DemoTunnel[];
  /** Null without sing-box. */
  readonly links: DemoLinks | null;
}

/** Only these ports, as SONDE_ALLOW_NETS has them; port 0 is ping, which has none. */
export function openings({ targets, tunnels, links }: Watched): readonly string[] {
  const ports = new Set([...targets.ports, ...tunnels.map(({ port }) => port), 0]);
  return [...[...ports].map((port) => `${LOOPBACK}/32:${port}`), ...(links?.openings ?? [])];
}

interface Listed {
  readonly id: string;
  readonly tags: readonly string[];
  readonly subscription?: { readonly subscription_url_id: string | null } | null;
}

export class DemoMonitors {
  readonly #client: Client;
  readonly #created: string[] = [];
  #subscription: number | null = null;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Those of a demo before, whose targets are gone. */
  async removeOld(): Promise<void> {
    const { subscriptions } = await this.#client.get<{ subscriptions: readonly { id: number; name: string | null }[] }>(
      "/subscriptions",
    );
    for (const { id, name } of subscriptions) if (name === PROVIDER) await this.#removeSubscription(id);
    await this.#remove((server) => server.tags.includes(TAG));
  }

  /** Those that were created. */
  async remove(): Promise<void> {
    if (this.#subscription !== null) await this.#removeSubscription(this.#subscription);
    for (const id of this.#created.splice(0)) await this.#client.remove(`/servers/${id}`);
  }

  /** @returns the address that the demo's job calls */
  async create({ kinds, targets, tunnels, links }: Watched): Promise<string> {
    const { asked, apiPort, ownPort, flappingPort, hangingPort, expiringPort } = targets;
    const own = kinds.map(({ kind, demo }) => ({
      type: kind,
      name: demo.name,
      ...demo.settings({ host: LOOPBACK, port: targets.portOf(kind) }),
    }));
    for (const body of own) await this.#add(body);
    await this.#add({ type: "http", name: "Flapping site", url: `http://${LOOPBACK}:${flappingPort}/` });
    await this.#add({ type: "http", name: "Hanging site", url: `http://${LOOPBACK}:${hangingPort}/` });
    const expiring = { url: `https://${LOOPBACK}:${expiringPort}/`, ssl_expiration: 7 };
    await this.#add({ type: "http", name: "Expiring certificate", ...expiring });
    const job = await this.#post<{ readonly id: string; readonly heartbeat_url: string }>({
      type: "push",
      name: "Nightly job",
      period: 60,
      tags: [TAG],
    });
    const places = { host: LOOPBACK, apiPort, ownPort, dnsPort: targets.portOf("dns") };
    for (const body of askingMonitors(asked, places)) await this.#add(body);
    for (const { body } of tunnels) await this.#add({ ...body, interval: TUNNEL_INTERVAL_S });
    if (links !== null) await this.#subscribe(links.subscriptionUrl);
    return job.heartbeat_url;
  }

  async #subscribe(url: string): Promise<void> {
    const body = { url, name: PROVIDER, syncIntervalSec: SYNC_INTERVAL_S };
    this.#subscription = (await this.#client.post<{ id: number }>("/subscriptions", body)).id;
  }

  async #add(body: object): Promise<void> {
    await this.#post<MonitorRow>({ ...OFTEN, ...body });
  }

  async #post<Answer extends { readonly id: string }>(body: object): Promise<Answer> {
    const made = await this.#client.post<Answer>("/servers", body);
    this.#created.push(made.id);
    return made;
  }

  /** Its monitors go with it: deleting a subscription alone keeps them, paused. */
  async #removeSubscription(id: number): Promise<void> {
    await this.#remove((server) => server.subscription?.subscription_url_id === String(id));
    await this.#client.remove(`/subscriptions/${id}`);
  }

  async #remove(isMeant: (server: Listed) => boolean): Promise<void> {
    const { servers } = await this.#client.get<{ servers: readonly Listed[] }>("/servers", {
      family: "all",
      limit: 1000,
    });
    for (const server of servers) if (isMeant(server)) await this.#client.remove(`/servers/${server.id}`);
  }
}
