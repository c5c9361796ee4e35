/** What the end-to-end suite works in: a service on some stores, and a target of every uptime kind. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import type { MonitorBody } from "../client.ts";
import { type Product, type ProductSettings, startProduct } from "../product.ts";
import { type DnsTarget, startDns, startTcp, startWebsite, type TcpTarget, type Website } from "../targets.ts";

const DAY_MS = 86_400_000;
/** So that a latency has something to show. */
export const SITE_DELAY_MS = 30;
/** Of the good certificate. */
export const DAYS_LEFT = 40;
export const ZONE_ADDRESS = "192.0.2.7";

export interface UptimeWorld {
  product: Product;
  readonly site: Website;
  readonly shop: Website;
  readonly secure: Website;
  readonly expired: Website;
  readonly mail: TcpTarget;
  readonly zone: DnsTarget;
  /** SIGTERM and a start on the same stores. @returns how long the start took, ms */
  restart(plan?: Readonly<Record<string, unknown>>): Promise<number>;
  close(): Promise<void>;
}

export async function openUptimeWorld(stores: ProductSettings): Promise<UptimeWorld> {
  const authority = makeAuthority();
  const certificate = (days: number) => {
    const notAfterMs = Date.now() + (days + 0.5) * DAY_MS;
    return makeCertificate({ commonName: "site", names: ["127.0.0.1"], issuer: authority, notAfterMs });
  };
  const [site, shop, secure, expired, mail, zone] = await Promise.all([
    startWebsite({ delayMs: SITE_DELAY_MS }),
    startWebsite(),
    startWebsite({ certificate: certificate(DAYS_LEFT) }),
    startWebsite({ certificate: certificate(-2) }),
    startTcp(),
    startDns(ZONE_ADDRESS),
  ]);
  const folder = temporaryFolder();
  const caFile = join(folder, "ca.pem");
  writeFileSync(caFile, authority.certPem);
  const settings: ProductSettings = {
    ...stores,
    dataDir: join(folder, "data"),
    env: { ...stores.env, SONDE_EXTRA_CA: caFile },
  };
  const world: UptimeWorld = {
    product: await startProduct(settings),
    site,
    shop,
    secure,
    expired,
    mail,
    zone,
    async restart(plan) {
      const code = await world.product.stop();
      if (code !== 0) throw new Error(`the service ended with ${code}: ${world.product.output()}`);
      const startedAtMs = performance.now();
      world.product = await startProduct({ ...settings, port: world.product.port, ...(plan && { plan }) });
      return performance.now() - startedAtMs;
    },
    async close() {
      zone.close();
      await Promise.all([site, shop, secure, expired, mail].map((each) => each.close()));
    },
  };
  return world;
}

/** Answers as the end-to-end suite looks into them. */
export interface ResultShown {
  readonly id: string;
  readonly server_id: string;
  readonly server_name: string;
  readonly status: string;
  readonly latency_ms: number | null;
  readonly protocol: string;
  readonly tested_at: string;
  readonly error_message: string | null;
  readonly explain?: Readonly<Record<string, unknown>>;
}

export interface ResultsShown {
  readonly results: readonly ResultShown[];
  readonly failures: readonly ResultShown[];
  readonly total: number;
  readonly period: string;
  readonly success_rate: number | null;
}

interface Regional {
  readonly status: string;
  readonly last_check: string;
  readonly ping_ms: number | null;
  readonly error_category?: string;
}

export type MonitorShown = MonitorBody & {
  readonly regional_status: Readonly<Record<string, Regional>>;
  readonly ssl_expiration: number | null;
};

export interface IncidentShown {
  readonly id: string;
  readonly server_id: string;
  readonly status: string;
  readonly severity: string;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly acknowledged: boolean;
  readonly acknowledged_at: string | null;
  readonly error_type: string;
  readonly error_message: string;
  readonly error_category: string | null;
  readonly event_count: number;
}
