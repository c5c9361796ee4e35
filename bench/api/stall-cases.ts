/** The most that one request may ask of the API's thread, by what it asks: bodies as long as they may be, and lists of ten thousand. */

export interface StallCase {
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: object;
  /** It is answered for as long as checks run, and left after so many ms. */
  readonly leftAfterMs?: number;
  /** It is planned first, and then applied by the plan's hash. */
  readonly applies?: true;
}

/** Bytes of a body. */
const MOST_BODY = 1_048_576;
const MOST_DOCUMENT = 4_194_304;

/** In the order in which they are asked, of one project. */
export function stallCases(monitors: number): readonly StallCase[] {
  return [...documentCases(monitors), ...readCases(), ...textCases(), ...listCases(), ...manyCases(monitors)];
}

function documentCases(monitors: number): readonly StallCase[] {
  const apply = (name: string, document: string, more: object = {}): StallCase => ({
    ...{ name, method: "POST", path: "/apply", body: { document, name: "stalls", ...more } },
  });
  const first = yamlOf(monitors, 0);
  return [
    apply("plan: JSON", JSON.stringify({ sonde: 1, monitors: websites(monitors) }), { dry_run: true }),
    apply("plan: YAML", first, { dry_run: true }),
    { ...apply("apply: YAML", first), applies: true },
    apply("plan: three fields of each", yamlOf(monitors, 1), { dry_run: true }),
    { ...apply("apply: three fields of each", yamlOf(monitors, 1)), applies: true },
    apply("plan: nothing to do", yamlOf(monitors, 1), { dry_run: true }),
    apply("plan: refused", yamlOf(monitors, 1).replaceAll("keyword: In", "keywod: In"), { dry_run: true }),
    apply("plan: 600,000 values", `sonde: [${"1,".repeat(599_000)}1]`, { dry_run: true }),
    apply("plan: 4 MB of one text", `sonde: "${"x".repeat(MOST_DOCUMENT - 200)}"`, { dry_run: true }),
    apply("plan: 4 MB of comments", `${"#\n".repeat(590_000)}${`#${"y".repeat(4_000)}\n`.repeat(600)}sonde: 1`, {
      dry_run: true,
    }),
    apply("plan: names that begin names", `${"? ".repeat(18)}a\n`.repeat(50_000), { dry_run: true }),
    apply("plan: opened lists", "[".repeat(MOST_DOCUMENT / 8), { dry_run: true }),
    apply("plan: JSON that is none", `${JSON.stringify({ sonde: 1, monitors: websites(monitors) })}x`, {
      dry_run: true,
    }),
  ];
}

function readCases(): readonly StallCase[] {
  const get = (path: string): StallCase => ({ name: `GET ${path}`, method: "GET", path });
  return [
    get("/servers?family=all&limit=1000"),
    get("/servers?family=all&limit=1000&offset=9000"),
    get("/servers/search?q=web"),
    get("/overview"),
    { name: "GET /results/recent of 100", method: "GET", path: `/results/recent?limit=100&ids=${ids(100)}` },
    { name: "GET /days of 100", method: "GET", path: `/days?ids=${ids(100)}` },
    get("/export"),
    get("/results?limit=500"),
    get("/incidents?limit=500"),
    get("/audit?limit=500"),
    { name: "GET /openapi.json", method: "GET", path: "//openapi.json" },
    get("/maintenances"),
    { name: "POST /status-pages, all", method: "POST", path: "/status-pages", body: pageOfAll() },
    { name: "GET its status page", method: "GET", path: "//status/stalls" },
    { name: "GET its status page, JSON", method: "GET", path: "//status/stalls/summary.json" },
    { name: "GET /metrics", method: "GET", path: "//metrics" },
  ];
}

function pageOfAll(): object {
  const components = [{ title: "All", servers: { all: true } }];
  return {
    slug: "stalls",
    title: "All",
    published: true,
    access: { type: "public" },
    groups: [{ title: "All", components }],
  };
}

function ids(count: number): string {
  return Array.from({ length: count }, (_, n) => `srv_${n + 1}`).join();
}

/** Texts that someone else wrote and that the API reads. */
function textCases(): readonly StallCase[] {
  const convert = (source: string, text: string): StallCase => ({
    ...{ name: `import: ${source}`, method: "POST", path: "/import/convert", body: { source, text } },
  });
  const template = (name: string, body: string): StallCase => ({
    name: `template: ${name}`,
    ...{ method: "POST", path: "/channels/test" },
    body: { kind: "custom", settings: { url: "http://127.0.0.1:9/", body } },
  });
  const gatus = Array.from(
    { length: 6_000 },
    (_, n) =>
      `- {name: shop ${n}, url: "https://w${n}.test-site.org/", conditions: ["[STATUS] == 200", "[BODY].a == b"]}`,
  );
  return [
    convert("gatus", `endpoints:\n${gatus.join("\n")}\n`),
    convert("gatus", `endpoints: [${"1,".repeat(490_000)}1]`),
    convert("kuma", JSON.stringify({ version: "1.23.0", monitorList: kumaMonitors(2_000) })),
    convert(
      "blackbox",
      `modules:\n${Array.from({ length: 9_000 }, (_, n) => `  m${n}: {prober: http, http: {valid_status_codes: [200, 201]}}`).join("\n")}`,
    ),
    template("loops", `${"{% for a in (1..300) %}".repeat(3)}x${"{% endfor %}".repeat(3)}`),
    template(
      "a long condition",
      `{% for a in (1..9999) %}{% if ${"a == 1 or ".repeat(700)}a %}{% endif %}{% endfor %}`,
    ),
    template(
      "filters",
      `{% assign a = "abcdefgh" %}{% for i in (1..9999) %}{{ a | ${"upcase | ".repeat(800)}upcase }}{% endfor %}`,
    ),
    template(
      "searches",
      `{% assign a = 'aaaaaaaa' %}${"{% assign a = a | append: a %}".repeat(11)}{% assign b = a | slice: 0, 8000 | append: 'b' %}${"{{ a | replace: b, 'c' }}".repeat(90)}`,
    ),
    template("many parts", "{{a}}".repeat(1_600)),
  ];
}

/** Lists as long as a body, of things that make sense and of such that make none. */
function listCases(): readonly StallCase[] {
  return [
    {
      name: "check/bulk: 10,000 links",
      method: "POST",
      leftAfterMs: 5_000,
      path: "/check/bulk",
      body: { text: links(10_000), at_once: 1, timeout: 1 },
    },
    {
      name: "check/bulk: as a list in base64",
      method: "POST",
      leftAfterMs: 5_000,
      path: "/check/bulk",
      body: { text: Buffer.from(links(10_000)).toString("base64"), at_once: 1, timeout: 1 },
    },
    ...["/servers", "/alert-rules", "/quiet-hours", "/status-pages", "/maintenances", "/servers/bulk", "/views"].map(
      (path): StallCase => ({
        name: `1 MB of nothing to ${path}`,
        method: path.endsWith("rules") || path.endsWith("hours") ? "PUT" : "POST",
        path,
        body: {
          junk: Array.from({ length: MOST_BODY / 8 }, () => [1]),
          version: 0,
          rules: Array.from({ length: 60_000 }, () => 1),
          quiet_hours: Array.from({ length: 60_000 }, () => 1),
        },
      }),
    ),
  ];
}

function manyCases(monitors: number): readonly StallCase[] {
  const bulk = (action: string, more: object = {}): StallCase => ({
    ...{
      name: `bulk: ${action}`,
      method: "POST",
      path: "/servers/bulk",
      body: { select: { all: true }, action, ...more },
    },
  });
  return [
    bulk("resume"),
    bulk("pause"),
    bulk("set", { set: { interval: 3_600, tags_add: ["a", "b", "c"] } }),
    bulk("set", { set: { interval: 3_600 }, dry_run: true }),
    bulk("check"),
    {
      name: "apply: half removed",
      method: "POST",
      path: "/apply",
      body: { document: yamlOf(monitors / 2, 1), name: "stalls", prune: true },
      applies: true,
    },
    bulk("delete"),
  ];
}

function websites(count: number): object {
  const entries = Array.from({ length: count }, (_, n) => [
    `web-${n}`,
    { type: "http", name: `web ${n}`, url: `http://127.0.0.1:9/${n}`, interval: 60, active: false },
  ]);
  return Object.fromEntries(entries);
}

/** @param version of three of the fields */
function yamlOf(monitors: number, version: number): string {
  const lines = ["sonde: 1", "monitors:"];
  for (let at = 0; at < monitors; at++) {
    lines.push(
      `  web-${at}:`,
      `    type: keyword`,
      `    name: Website ${at} of the bench`,
      `    url: https://w${at}.test-site.org/health?of=${version}`,
      `    keyword: In stock ${version}`,
      `    interval: ${300 + 60 * version}`,
      `    timeout: 20`,
      `    maxretries: 2`,
      `    active: false`,
      `    tags: [bench, t${at % 20}]`,
    );
  }
  return `${lines.join("\n")}\n`;
}

function kumaMonitors(count: number): readonly object[] {
  return Array.from({ length: count }, (_, n) => ({
    ...{ id: n + 1, name: `kuma ${n}`, type: "http", url: `https://k${n}.test-site.org/`, method: "GET", interval: 60 },
    ...{ maxretries: 1, active: true, accepted_statuscodes: ["200-299"], timeout: 48, retryInterval: 60, tags: [] },
  }));
}

function links(count: number): string {
  return Array.from(
    { length: count },
    (_, n) =>
      `trojan://secret${n}@127.0.0.1:${9}?security=tls&sni=a${n}.test-site.org&type=ws&path=%2Fa${n}#Berlin%20${n}`,
  ).join("\n");
}
