/** Whatever stands in a file, an importer ends in a document that can be applied, or in an error that names the file. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fieldsOf,
  isUptimeKind,
  settingsOf,
  UPTIME_KINDS,
  uptimeKinds,
  webUrlFault,
} from "../../engine/contract/registry.ts";
import type { Document } from "../../model/document/document.ts";
import { fillPlaceholders } from "../../model/document/placeholders.ts";
import { readDocument } from "../../model/document/read.ts";
import type { DocumentWords, Shape } from "../../model/document/shape.ts";
import { writeDocument } from "../../model/document/write.ts";
import { atOnce, ImportError, type Imported } from "./importer.ts";
import { importers } from "./index.ts";
import { TABLES } from "./kuma/tables.ts";
import { convertKuma } from "./kuma.ts";
import { withoutSecrets } from "./secrets.ts";

const ANY: Shape = { type: "any" };
const COMMON = ["type", "name", "active", "tags", "interval", "timeout", "maxretries", "token"];
const WORDS: DocumentWords = {
  monitorFields: Object.fromEntries(
    [...COMMON, ...uptimeKinds.flatMap((kind) => Object.keys(fieldsOf(kind)))].map((name) => [name, ANY]),
  ),
  defaultFields: [],
  kinds: UPTIME_KINDS,
};

function expectValid({ document }: Imported): void {
  for (const written of [document, withoutSecrets(document).document]) {
    const text = fillPlaceholders(writeDocument(written), () => "filled-in-value");
    const { document: read, faults } = readDocument(text, WORDS);
    expect(faults).toEqual([]);
    if (written === document) expectMonitors(read ?? { sonde: 1 });
  }
}

/** What the API would say of each. */
function expectMonitors({ monitors, maintenance, status_pages, alert_rules, channels }: Document): void {
  for (const [key, entry] of Object.entries(monitors ?? {})) {
    const {
      type = "vpn",
      name: _,
      active: _active,
      tags = [],
      interval,
      timeout,
      maxretries,
      token: _token,
      ...settings
    } = entry;
    if (!isUptimeKind(type)) continue;
    expect([key, settingsOf(type)?.safeParse(settings).error?.issues]).toEqual([key, undefined]);
    if (type === "http" || type === "keyword") expect(webUrlFault(String(settings.url))).toBeUndefined();
    expect(tags.length).toBeLessThanOrEqual(20);
    for (const tag of tags) expect([...tag].length).toBeLessThanOrEqual(50);
    for (const [value, least, most] of [
      [interval, 1, 86_400],
      [timeout, 10, 120],
      [maxretries, 1, 10],
    ] as const)
      if (value !== undefined)
        expect(Number.isInteger(value) && Number(value) >= least && Number(value) <= most).toBe(true);
  }
  const known = (keys: readonly string[] | undefined, things: object | undefined) =>
    (keys ?? []).filter((key) => !Object.hasOwn(things ?? {}, key));
  for (const { select } of Object.values(maintenance ?? {})) expect(known(select.keys, monitors)).toEqual([]);
  for (const { groups } of Object.values(status_pages ?? {}))
    for (const { components } of groups)
      for (const { select } of components) expect(known(select.keys, monitors)).toEqual([]);
  for (const rule of alert_rules ?? []) expect(known(rule.channels ?? [], channels)).toEqual([]);
}

/** Words that each source's own readers look for: without them a random file is never read far. */
const VOCABULARY: Readonly<Record<string, readonly string[]>> = {
  kuma: "monitorList notificationList proxyList id name type active interval url hostname port keyword maxretries timeout accepted_statuscodes method headers body authMethod basic_auth_user tags notificationIDList config parent pushToken conditions jsonPath jsonPathOperator expectedValue ipFamily".split(
    " ",
  ),
  gatus:
    "endpoints external-endpoints alerting alerts name group url conditions interval client timeout dns query-name query-type headers method body heartbeat slack webhook-url type failure-threshold default-alert overrides provider-override maintenance start duration every timezone maintenance-windows suites custom email".split(
      " ",
    ),
  blackbox:
    "modules scrape_configs job_name metrics_path params module static_configs targets labels global scrape_interval prober http tcp icmp dns http_2xx valid_status_codes fail_if_body_not_matches_regexp fail_if_body_matches_regexp tls_config query_response query_name query_type basic_auth username password authorization".split(
      " ",
    ),
  "xray-checker":
    "services environment image env_file SUBSCRIPTION_URL PROXY_CHECK_INTERVAL PROXY_TIMEOUT WEB_PUBLIC".split(" "),
  uptimerobot:
    "data id type friendlyName url interval timeout status keywordType keywordValue tags config dnsRecords customHttpHeaders postValueData authType httpUsername successHttpResponseCodes sslExpirationPeriodDays".split(
      " ",
    ),
  betterstack:
    "data id type attributes url pronounceable_name monitor_type check_frequency request_timeout port required_keyword request_headers maintenance_from maintenance_to maintenance_days maintenance_timezone paused_at period grace expected_status_codes".split(
      " ",
    ),
  checkly:
    "entries id name checkType frequency request url hostname port assertions source comparison target property headers key value tags startsAt endsAt repeatUnit repeatInterval heartbeat period periodUnit recordType query".split(
      " ",
    ),
  openstatus:
    "monitors name kind frequency request url host port assertions compare target key method headers retry timeout degradedAfter active".split(
      " ",
    ),
};
const VALUES: readonly unknown[] = [
  ...[
    "http",
    "keyword",
    "ping",
    "port",
    "dns",
    "push",
    "json-query",
    "group",
    "HTTP",
    "KEYWORD",
    "API",
    "HEARTBEAT",
    "status",
    "monitor",
    "tcp",
    "/probe",
    "slack",
  ],
  ...[
    "https://www.test-site.org/",
    "tcp://db.test-site.org:1",
    "icmp://[::1]",
    "tls://a.test-site.org",
    "vless://x@y:1#z",
    `http://\${A}/$B`,
    "www.test-site.org",
  ],
  ...[
    "[STATUS] == 200",
    "[BODY].a[0] > 5",
    "[BODY] == pat(*x*)",
    "len([BODY]) < 1",
    "1h30m",
    "60s",
    "23:00",
    "Monday",
    "2026-01-01T00:00:00Z",
    "EQUALS",
    "STATUS_CODE",
    "eq",
  ],
  ...[
    0,
    1,
    -1,
    60,
    1e308,
    -0.5,
    2_000_000,
    Number.MAX_SAFE_INTEGER,
    true,
    false,
    null,
    "",
    " ",
    "0",
    "\u0000",
    "\ud800",
    `\${env:X}`,
    `$\${file:/x}`,
    "__proto__",
    "constructor",
    "k".repeat(3_000),
    "\u{f0000}HOME\u{f0001}",
  ],
];

function filesOf(words: readonly string[]) {
  const key = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...words) },
    { weight: 1, arbitrary: fc.constantFrom("__proto__", "x", "constructor", "") },
  );
  const { tree } = fc.letrec((tie) => ({
    leaf: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...VALUES) },
      { weight: 1, arbitrary: fc.string({ maxLength: 20 }) },
    ),
    tree: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      { weight: 2, arbitrary: tie("leaf") },
      { weight: 3, arbitrary: fc.dictionary(key, tie("tree"), { maxKeys: 5 }) },
      { weight: 2, arbitrary: fc.array(tie("tree"), { maxLength: 4 }) },
    ),
  }));
  const root = fc.dictionary(fc.constantFrom(...words), tree, { minKeys: 1, maxKeys: 4 });
  const rows = fc.array(fc.dictionary(key, tree, { minKeys: 3, maxKeys: 12 }), { maxLength: 3 });
  return { root, rows };
}

/** Where each source has its list of things. */
const LISTS: Readonly<Record<string, string>> = {
  kuma: "monitorList",
  gatus: "endpoints",
  blackbox: "scrape_configs",
  uptimerobot: "data",
  betterstack: "data",
  checkly: "entries",
  openstatus: "monitors",
};

function tryAll(name: string, text: string): void {
  const importer = importers.find(({ source }) => source === name);
  for (const options of [{}, { asPort: true, dropExtra: true, appriseServer: "http://apprise.test-site.org" }]) {
    try {
      importer?.references?.([{ name: "file.yaml", text }]);
      const steps = importer?.convert([{ name: "file.yaml", text }], { ...options, nowMs: 1_790_000_000_000 });
      if (steps !== undefined) expectValid(atOnce(steps));
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      expect(error.message).toMatch(/file\.yaml.*; [a-z]/s);
    }
  }
}

describe.each(importers.map(({ source }) => source))("%s", (source) => {
  const { root, rows } = filesOf(VOCABULARY[source] ?? []);

  it("makes a valid document of anything, or says which file cannot be read", () => {
    fc.assert(
      fc.property(root, rows, (value, list) =>
        tryAll(source, JSON.stringify({ ...value, [LISTS[source] ?? "services"]: list })),
      ),
      { numRuns: 25 },
    );
    fc.assert(
      fc.property(root, (value) => tryAll(source, JSON.stringify(value))),
      { numRuns: 8 },
    );
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 200 }), fc.json()), (text) => tryAll(source, text)),
      { numRuns: 20 },
    );
  });

  it("refuses bombs and what is nested too deeply", () => {
    const bomb = [
      "a: &a [x,x,x,x,x,x,x,x,x,x]",
      ..."bcdefgh"
        .split("")
        .map((name, index) => `${name}: &${name} [${Array(10).fill(`*${"abcdefg"[index]}`).join()}]`),
    ].join("\n");
    for (const text of [
      bomb,
      `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
      "a: &a [*a]",
      "a: 1\n---\nb: 2",
      "endpoints: !!js/function 'x'",
    ])
      tryAll(source, text);
  });
});

it("rows of a database may have any value", () => {
  const value = fc.constantFrom(
    ...VALUES,
    1n,
    "[1,2]",
    '{"type":"telegram"}',
    "recurring-weekday",
    "single",
    "cron",
    "02:00",
  );
  const columns =
    "id name type active interval url hostname port keyword parent monitor_id tag_id notification_id maintenance_id status_page_id group_id config value key strategy start_date end_date start_time end_time weekdays days_of_month cron duration timezone slug title icon theme custom_css domain push_token weight".split(
      " ",
    );
  const row = fc.dictionary(fc.constantFrom(...columns), value, { maxKeys: 20 });
  const tables = fc.dictionary(fc.constantFrom(...TABLES), fc.array(row, { maxLength: 4 }), { maxKeys: TABLES.length });
  fc.assert(
    fc.property(tables, (rows) =>
      expectValid(atOnce(convertKuma({ rows, besides: [] }, { nowMs: 1_790_000_000_000 }))),
    ),
    { numRuns: 60 },
  );
});
