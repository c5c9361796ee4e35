/** What `sonde up` exports: series of single monitors up to the bound, and what the board and the alerts in docs/operate ask for. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWith } from "../prerequisites.ts";
import { createMonitor, type Product, startProduct, untilStatus } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";
import { startWebsite, type Website } from "../targets.ts";

interface Panel {
  readonly title: string;
  readonly collapsed?: boolean;
  readonly panels?: readonly Panel[];
  readonly targets?: readonly { readonly expr: string }[];
}
interface Rules {
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly for?: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly summary: string };
    }[];
  }[];
}

const operations = (file: string): string =>
  readFileSync(fileURLToPath(new URL(`../../docs/operate/${file}`, import.meta.url)), "utf8");
const namesIn = (text: string): readonly string[] => text.match(/\bsonde_[a-z_]+/g) ?? [];

describeWith([], "the metrics of sonde up", () => {
  let site: Website;
  let service: Product;
  let up: string;
  const metrics = async (): Promise<string> => (await fetch(`${service.url}/metrics`)).text();

  beforeAll(async () => {
    site = await startWebsite();
    service = await startProduct({ env: { SONDE_MONITOR_METRICS: "2" } });
    const base = { type: "http", interval: 1, maxretries: 1 };
    up = await createMonitor(service.api, { ...base, name: 'Shop "north"', url: site.url });
    const down = await createMonitor(service.api, {
      type: "port",
      name: "Gone",
      host: "127.0.0.1",
      port: 1,
      interval: 1,
    });
    await createMonitor(service.api, { ...base, name: "Third", url: site.url });
    await untilStatus(service.api, up, "healthy");
    await untilStatus(service.api, down, "down");
  });
  afterAll(async () => {
    await site?.close();
    await cleanUp();
  });

  it("name the release, count requests by route, and monitors one by one up to the bound", async () => {
    const text = await eventually(async () => {
      const now = await metrics();
      return /^sonde_monitor_latency_seconds\{.*north/m.test(now) ? now : undefined;
    });
    expect(text).toMatch(/^sonde_build_info\{version="\d+\.\d+\.\d+",role="up",node="v\d+/m);
    expect(text).toMatch(/^sonde_http_requests_total\{method="POST",route="\/servers",status="200"\} 3$/m);
    expect(text).toContain(`sonde_monitor_up{monitor="${up}",name="Shop \\"north\\"",type="http",project="prj_1"} 1\n`);
    expect(text).toMatch(/^sonde_monitor_up\{.*name="Gone".*\} 0$/m);
    expect(text).not.toContain('name="Third"');
    expect(text).toMatch(/^sonde_monitors_without_series 1$/m);
  });

  it("fill every panel of the board that is open", async () => {
    const board = JSON.parse(operations("grafana-board.json")) as { readonly panels: readonly Panel[] };
    // The scheduler tells its figures once a second.
    const text = await eventually(async () => {
      const now = await metrics();
      return now.includes("\nsonde_checks_total{") ? now : undefined;
    });
    const sampled = new Set([...text.matchAll(/^(sonde_[a-z_]+)[ {]/gm)].map(([, name = ""]) => name));
    const open = board.panels.filter(({ targets }) => targets !== undefined);
    expect(open.length).toBeGreaterThan(20);
    const empty = open.flatMap(({ title, targets = [] }) =>
      targets.flatMap(({ expr }) => namesIn(expr).flatMap((name) => (sampled.has(name) ? [] : [`${title}: ${name}`]))),
    );
    expect(empty).toEqual([]);
    const closed = board.panels.filter(({ collapsed }) => collapsed === true);
    expect(closed.map(({ panels = [] }) => panels.length > 0)).toEqual([true, true]);
  });

  it("are what the alerts ask for, and the page lists the alerts of the process as the file has them", () => {
    const { groups } = load(operations("prometheus-rules.yaml")) as Rules;
    const rules = groups.flatMap((group) => group.rules);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { expr, labels, annotations } of rules) {
      expect(["critical", "warning"]).toContain(labels.severity);
      expect([expr, annotations.summary.length > 10]).toEqual([expr, true]);
    }
    const rows = [...operations("metrics.md").matchAll(/^\| `([^`]+)`(?: for (\d+) min)? \|/gm)]
      .map(([, expr = "", minutes]) => [expr, minutes === undefined ? undefined : `${minutes}m`] as const)
      .filter(([expr]) => /[<>=]/.test(expr));
    const [process] = groups;
    expect(rows.sort()).toEqual((process?.rules ?? []).map((rule) => [rule.expr, rule.for] as const).sort());
  });
});
