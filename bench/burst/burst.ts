/** `npm run bench -- burst <kind>` */
import { run as runDns } from "./dns.ts";
import { run as runHttp } from "./http.ts";
import { run as runPing } from "./ping.ts";
import { run as runPort } from "./port.ts";

const BURSTS: Readonly<Record<string, () => Promise<unknown>>> = {
  http: () => runHttp("http"),
  keyword: () => runHttp("keyword"),
  port: () => runPort(),
  ping: () => runPing(),
  dns: () => runDns(),
};

export async function runBurst(kind: string): Promise<void> {
  const burst = Object.hasOwn(BURSTS, kind) ? BURSTS[kind] : undefined;
  if (burst === undefined) throw new Error(`no burst of ${kind}: one of ${Object.keys(BURSTS).join(", ")}`);
  await burst();
}
