/**
 * `npm run bench -- storm`: everything that is watched goes down at once and comes back, on the built product. When it is told, in how many messages,
 * and whether checks are later meanwhile than before.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { conditions } from "../parts/conditions.ts";
import { type ServiceUnderTest, startServiceUnderTest } from "../uptime/service.ts";
import { targetNets } from "../uptime/target-address.ts";
import { startTarget } from "../uptime/target-process.ts";
import { createMonitors } from "../uptime/uptime.ts";

export interface StormBenchOptions {
  readonly monitors: number;
  readonly interval: number;
  readonly seconds: number;
  readonly warmUp: number;
}

/** Opens to the service the receiver of its messages. */
const RECEIVER = "127.0.0.1/32";

/** Later than that is no check here. */
const LONGEST_SHOWN_S = 1;

interface Told {
  readonly atMs: number;
  readonly title: string;
}

export async function runStorm({ monitors, interval, seconds, warmUp }: StormBenchOptions): Promise<void> {
  const messages: Told[] = [];
  const phone = await startPhone(messages);
  const target = await startTarget(0, 0);
  try {
    const nets = `${targetNets(target.port)},${RECEIVER}:${(phone.address() as AddressInfo).port}`;
    const service = await startServiceUnderTest(nets);
    try {
      await listen(service, phone);
      console.log(`storm: ${monitors} http monitors every ${interval} s\n  ${conditions()}`);
      await createMonitors(service.client, target.port, { monitors, intervalS: interval });
      await pause(warmUp * 1_000);
      await stretch(service, "before", seconds, messages);
      target.fail(1_000);
      await stretch(service, "all go down", seconds, messages);
      target.fail(0);
      await stretch(service, "all come back", seconds, messages);
    } finally {
      await service.stop();
    }
  } finally {
    target.close();
    phone.close();
  }
}

/** What takes the messages of a channel. */
async function startPhone(messages: Told[]): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { title } = (await json(request)) as { readonly title: string };
    messages.push({ atMs: Date.now(), title });
    response.end('{"id":"x"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return server;
}

async function listen({ client }: ServiceUnderTest, phone: Server): Promise<void> {
  const server = `http://127.0.0.1:${(phone.address() as AddressInfo).port}`;
  await client.post("/channels", { kind: "ntfy", name: "Phone", settings: { server, topic: "sonde" } });
}

/** Prints what came of a stretch of time. */
async function stretch(service: ServiceUnderTest, name: string, seconds: number, messages: Told[]): Promise<void> {
  messages.length = 0;
  const fromMs = Date.now();
  const before = bucketsOf(await service.metrics());
  await pause(seconds * 1_000);
  const after = bucketsOf(await service.metrics());
  const late = after.map(([bound, count], at) => [bound, count - (before[at]?.[1] ?? 0)] as const);
  const openedMs = messages.length === 0 ? null : await firstOpened(service, fromMs);
  const texts = messages.map(
    ({ atMs, title }) => `"${title}" after ${((atMs - (openedMs ?? fromMs)) / 1_000).toFixed(1)} s`,
  );
  console.log(
    `  ${name.padEnd(14)} ${((late.at(-1)?.[1] ?? 0) / seconds).toFixed(0)} checks/s, later than ${wordOf(late)}; ${messages.length} messages${messages.length === 0 ? "" : `: ${texts.join(", ")}`}`,
  );
}

/** When the first incident of the stretch was confirmed: it began with the first check of its monitor that failed. */
async function firstOpened({ client }: ServiceUnderTest, fromMs: number): Promise<number | null> {
  const query = `/incidents?status=active&limit=1000&from=${new Date(fromMs).toISOString()}`;
  const { incidents } = await client.get<{ readonly incidents: readonly { readonly id: string }[] }>(query);
  const times: number[] = [];
  for (const { id } of incidents.slice(0, 20)) {
    const { events } = await client.get<{
      readonly events: readonly { readonly type: string; readonly at: string }[];
    }>(`/incidents/${id}/events`);
    for (const { type, at } of events) if (type === "opened") times.push(Date.parse(at));
  }
  return times.length === 0 ? null : times.reduce((least, one) => Math.min(least, one));
}

/** Upper bounds (s) and counts below them, of all checks. */
function bucketsOf(text: string): readonly (readonly [bound: string, count: number])[] {
  return [...text.matchAll(/^sonde_check_lateness_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm)].map(
    ([, bound = "", count = "0"]) => [bound, Number(count)] as const,
  );
}

/** `0.1 s: 12 (0.01 %)` of each bound up to a second. */
function wordOf(late: readonly (readonly [string, number])[]): string {
  const all = late.at(-1)?.[1] ?? 0;
  return late
    .slice(0, -1)
    .filter(([bound]) => Number(bound) <= LONGEST_SHOWN_S)
    .map(
      ([bound, count]) => `${bound} s: ${all - count} (${all === 0 ? 0 : (((all - count) / all) * 100).toFixed(2)} %)`,
    )
    .join(", ");
}
