/** What becomes of one file of each source. */
import { expect, test } from "vitest";
import { atOnce, type ImportOptions } from "./importer.ts";
import { importerNamed } from "./index.ts";

function convert(source: string, files: Readonly<Record<string, string>>, options: ImportOptions = {}) {
  const importer = importerNamed(source);
  if (importer === undefined) throw new Error(`no ${source}`);
  return atOnce(
    importer.convert(
      Object.entries(files).map(([name, text]) => ({ name, text })),
      options,
    ),
  );
}

test("gatus: conditions, alerts and merge keys", () => {
  const { document, notes } = convert("gatus", {
    "config.yaml": `
x: &fast { interval: 30s, client: { timeout: 20s, insecure: true, ignore-redirect: true } }
alerting:
  slack: { webhook-url: "\${SLACK}", default-alert: { failure-threshold: 4, send-on-resolved: true } }
  custom: { url: "https://hook.test-site.org/", method: POST, headers: { Authorization: Bearer t0ken, Accept: text/plain, X-T: "[ALERT_DESCRIPTION]" }, body: '{"t": "[ALERT_DESCRIPTION]"}' }
endpoints:
  - <<: *fast
    name: Front Page
    group: core
    url: https://www.test-site.org/health
    method: POST
    headers: { X-Key: "$KEY", X-Price: "$$5" }
    conditions: ["[STATUS] == any(200, 301)", "300 > [STATUS]", "[BODY].items[0].n > 3", "has([BODY].errors) == false", "[RESPONSE_TIME] < 500", "[CERTIFICATE_EXPIRATION] > 48h"]
    alerts: [{ type: slack }, { type: custom, failure-threshold: 6 }]
    maintenance-windows: [{ start: "23:00", duration: 2h, timezone: Europe/Berlin, every: [Monday] }]
  - { name: words, url: "https://www.test-site.org/", conditions: ["[BODY] == pat(*Welcome*)", "[IP] == 1.2.3.4"] }
  - { name: zone, url: 9.9.9.9, dns: { query-name: test-site.org, query-type: MX }, conditions: ["[DNS_RCODE] == NOERROR"] }
  - { name: mail, url: "starttls://mail.test-site.org:587", conditions: ["[CERTIFICATE_EXPIRATION] > 240h"] }
  - { name: host, url: "icmp://[2001:db8::1]", conditions: ["[CONNECTED] == true"] }
external-endpoints: [{ name: job, token: abc, heartbeat: { interval: 30m } }]
`,
  });
  expect(document.monitors).toMatchObject({
    "core_front-page": {
      interval: 30,
      timeout: 20,
      maxretries: 4,
      method: "POST",
      headers: { "X-Key": `\${env:KEY}`, "X-Price": "$5" },
      accepted_statuscodes: ["200"],
      json_query: "$number($.`items`[0].`n`) > 3 and $not($exists($.`errors`))",
      max_response_time: 500,
      ssl_expiration: 2,
      verify_certificate: false,
      max_redirects: 0,
      tags: ["alert:1", "core"],
    },
    words: {
      type: "keyword",
      keyword: "Welcome",
      active: false,
      accepted_statuscodes: ["100-599"],
      tags: ["imported:incomplete"],
    },
    zone: { type: "dns", domain: "test-site.org", host: "9.9.9.9", record_type: "MX" },
    mail: { type: "tls", host: "mail.test-site.org", port: 587, starttls: "smtp", ssl_expiration: 14 },
    host: { type: "ping", host: "2001:db8::1" },
    job: { type: "push", period: 1_800 },
  });
  expect(document.channels).toMatchObject({
    slack: { kind: "slack", url: `\${env:SLACK}` },
    custom: {
      ...{ kind: "custom", method: "POST", body: '{"t": "{{ msg }}"}' },
      headers: { Authorization: "{{ secret.header_authorization }}", Accept: "text/plain", "X-T": "{{ msg }}" },
      secrets: { header_authorization: "Bearer t0ken" },
    },
  });
  expect(document.alert_rules).toMatchObject([
    { channels: ["slack"], continue: true },
    { channels: ["custom"], delay_s: 60, recovered: false },
  ]);
  expect(Object.values(document.maintenance ?? {})).toMatchObject([
    {
      select: { keys: ["core_front-page"] },
      schedule: { type: "weekly", days: ["mon"], from: "23:00", minutes: 120 },
      timezone: "Europe/Berlin",
    },
  ]);
  expect(notes).toContainEqual({
    level: "lost",
    path: "endpoint words",
    message: "conditions that cannot be said: [IP] == 1.2.3.4",
  });
  const kept = convert(
    "gatus",
    { a: 'endpoints: [{ name: a, url: "tcp://h:1", conditions: ["[IP] == 1.2.3.4"] }]' },
    { dropExtra: true },
  );
  expect(kept.document.monitors?.a).not.toHaveProperty("active");
});

test("blackbox: modules over targets", () => {
  const { document, notes } = convert("blackbox", {
    "prometheus.yml": `
global: { scrape_interval: 30s }
scrape_configs:
  - job_name: web
    metrics_path: /probe
    params: { module: [web] }
    static_configs: [{ targets: ["https://www.test-site.org/a", "shop.test-site.org"], labels: { team: Web } }]
    kubernetes_sd_configs: [{}]
  - { job_name: ports, metrics_path: /probe, params: { module: [mail] }, static_configs: [{ targets: ["mail.test-site.org:25"] }] }
  - { job_name: zone, metrics_path: /probe, params: { module: [zone] }, static_configs: [{ targets: ["9.9.9.9"] }] }
  - { job_name: node, static_configs: [{ targets: ["other:9100"] }] }
`,
    "blackbox.yml": `
modules:
  web:
    prober: http
    timeout: 15s
    http:
      valid_status_codes: [200, 204]
      fail_if_body_not_matches_regexp: ["^ok.*"]
      basic_auth: { username: ada, password: pw }
      preferred_ip_protocol: ip4
      ip_protocol_fallback: false
      tls_config: { insecure_skip_verify: true }
  mail: { prober: tcp, tcp: { query_response: [{ expect: "^220" }, { send: "EHLO x" }, { starttls: true }] } }
  zone: { prober: dns, dns: { query_name: test-site.org, query_type: SOA } }
`,
  });
  expect(Object.values(document.monitors ?? {})).toMatchObject([
    {
      type: "http",
      url: "https://www.test-site.org/a",
      interval: 30,
      timeout: 15,
      accepted_statuscodes: ["200", "204"],
      body_regex: "^ok.*",
      basic_auth_username: "ada",
      ip_version: "ipv4",
      verify_certificate: false,
      tags: ["job:web", "team:web"],
    },
    { type: "http", url: "http://shop.test-site.org" },
    { type: "tls", host: "mail.test-site.org", port: 25, starttls: "smtp" },
    { type: "dns", host: "9.9.9.9", port: 53, domain: "test-site.org", record_type: "SOA" },
  ]);
  expect(notes.filter(({ level }) => level === "lost").map(({ path }) => path)).toEqual(["job web"]);
});

test("xray-checker: env file, compose file and links", () => {
  const links = Buffer.from("vless://id@vpn.test-site.org:443#Berlin%201\nhttp://no\n").toString("base64");
  const { document, notes } = convert("xray-checker", {
    "compose.yaml":
      'services: { checker: { image: "kutovoys/xray-checker", env_file: .env, environment: ["PROXY_CHECK_INTERVAL=30", "WEB_PUBLIC=true"] } }',
    ".env": `# settings\nSUBSCRIPTION_URL="https://sub.test-site.org/t0ken,${links}"\nPROXY_TIMEOUT=5\n`,
  });
  expect(document.subscriptions).toEqual({
    "subscription-1": { url: "https://sub.test-site.org/t0ken", syncIntervalSec: 60, timeoutSeconds: 10 },
  });
  expect(document.monitors).toMatchObject({
    "berlin-1": { name: "Berlin 1", url: "vless://id@vpn.test-site.org:443#Berlin%201", interval: 60, timeout: 10 },
  });
  expect(document.status_pages).toMatchObject({ proxies: { published: false } });
  expect(notes).toContainEqual({
    level: "lost",
    path: "subscription 2",
    message: "1 of its lines are no links to proxies",
  });
  expect(() => convert("xray-checker", { ".env": "A=1" })).toThrow(".env: no SUBSCRIPTION_URL is set");
});

test("xray-checker: words of its command line, a service known by its name, and names of subscriptions", () => {
  const command =
    "--subscription-url=https://a.test-site.org/sub#My%20VPN --subscription-url https://b.test-site.org/sub --subscription-header=X:1";
  const { document, notes } = convert("xray-checker", {
    "compose.yml": `services: { other: { image: nginx }, checker: { build: ., command: ${JSON.stringify(command)} } }`,
  });
  expect(Object.values(document.subscriptions ?? {})).toMatchObject([
    { url: "https://a.test-site.org/sub", name: "My VPN" },
    { url: "https://b.test-site.org/sub" },
  ]);
  expect(notes).toContainEqual(expect.objectContaining({ level: "lost", path: "SUBSCRIPTION_HEADER" }));
  const named = convert("xray-checker", {
    "docker-compose.yml": "services: { xray-checker: { build: ., env_file: [.env] } }",
    ".env": "SUBSCRIPTION_URL=https://c.test-site.org/sub\n",
  });
  expect(Object.values(named.document.subscriptions ?? {})).toMatchObject([{ url: "https://c.test-site.org/sub" }]);
});

test("uptimerobot: the API's answer and the page's table", () => {
  const data = [
    {
      id: 1,
      type: "HTTP",
      friendlyName: "Site",
      url: "https://www.test-site.org/",
      interval: 300,
      timeout: 30,
      httpMethodType: "HEAD",
      successHttpResponseCodes: ["2xx", "404"],
      tags: [{ name: "Prod" }],
      sslExpirationReminder: true,
      config: { sslExpirationPeriodDays: [7, 30] },
    },
    {
      id: 2,
      type: "KEYWORD",
      friendlyName: "Word",
      url: "https://www.test-site.org/x",
      keywordType: "ALERT_EXISTS",
      keywordValue: "error",
      status: "PAUSED",
    },
    { id: 3, type: "DNS", friendlyName: "Zone", url: "test-site.org", config: { dnsRecords: { A: ["192.0.2.1"] } } },
    { id: 4, type: "HEARTBEAT", friendlyName: "Job", interval: 3_600, gracePeriod: 600 },
    { id: 5, type: "UDP", friendlyName: "U" },
  ];
  const { document, notes } = convert("uptimerobot", { "m.json": JSON.stringify({ data, nextLink: null }) });
  expect(document.monitors).toMatchObject({
    "uptimerobot-1": {
      method: "HEAD",
      accepted_statuscodes: ["200-299", "404"],
      ssl_expiration: 30,
      tags: ["prod"],
      timeout: 30,
    },
    "uptimerobot-2": { type: "keyword", keyword: "error", invert_keyword: true, active: false },
    "uptimerobot-3": { type: "dns", domain: "test-site.org", record_type: "A", expected: ["192.0.2.1"] },
    "uptimerobot-4": { type: "push", period: 3_600, grace: 600 },
  });
  expect(notes).toContainEqual({ level: "lost", path: "monitor 5 (U)", message: "a check of type UDP is left out" });
  const table =
    'ID;Type;Status;Friendly Name;URL/IP;Keyword Type;Keyword Value;Port\n7;Port;Up;"A ""b""; c";db.test-site.org;;;5432\n';
  expect(convert("uptimerobot", { "m.csv": table }).document.monitors).toMatchObject({
    "uptimerobot-7": { type: "port", name: 'A "b"; c', host: "db.test-site.org", port: 5_432 },
  });
});

test("uptimerobot: the answer of API v2, and what v3 says of monitors without a login", () => {
  const monitors = [
    {
      id: 11,
      friendly_name: "Site",
      url: "http://www.test-site.org",
      type: 1,
      interval: 900,
      status: 0,
      http_method: 1,
    },
    {
      id: 12,
      friendly_name: "Mail",
      url: "mail.test-site.org",
      type: 4,
      sub_type: 4,
      port: "",
      interval: 60,
      status: 2,
    },
    { id: 13, friendly_name: "Own", url: "own.test-site.org", type: 4, sub_type: 99, port: 8_000, status: 2 },
    {
      id: 14,
      friendly_name: "Word",
      url: "https://www.test-site.org/",
      type: 2,
      keyword_type: 1,
      keyword_value: "error",
      http_username: "ada",
      http_password: "s3cret",
      custom_http_statuses: "404:1_302:0",
      mwindows: [{ id: 1 }],
    },
  ];
  const pagination = { offset: 0, limit: 50, total: 5 };
  const { document, notes } = convert("uptimerobot", {
    "m.json": JSON.stringify({ stat: "ok", pagination, monitors }),
  });
  expect(document.monitors).toMatchObject({
    "uptimerobot-11": { type: "http", active: false, interval: 900, method: "HEAD" },
    "uptimerobot-12": { type: "port", host: "mail.test-site.org", port: 25 },
    "uptimerobot-13": { type: "port", port: 8_000 },
    "uptimerobot-14": {
      type: "keyword",
      invert_keyword: true,
      basic_auth_username: "ada",
      accepted_statuscodes: ["200-301", "303-399", "404"],
    },
  });
  expect(notes.map(({ path }) => path)).toEqual(expect.arrayContaining(["pages", "maintenance windows"]));
  const data = [
    {
      id: 1,
      type: "HTTP",
      friendlyName: "A",
      url: "https://www.test-site.org/",
      authType: "HTTP_BASIC",
      postValueData: {},
      postValueType: "KEY_VALUE",
      successHttpResponseCodes: ["2xx,3xx"],
    },
  ];
  const v3 = convert("uptimerobot", {
    "m.json": JSON.stringify({ data, nextLink: "https://api.test-site.org/?cursor=1" }),
  });
  expect(v3.document.monitors?.["uptimerobot-1"]).toMatchObject({ accepted_statuscodes: ["200-299", "300-399"] });
  expect(v3.document.monitors?.["uptimerobot-1"]).not.toHaveProperty("active", false);
  expect(v3.document.monitors?.["uptimerobot-1"]).not.toHaveProperty("headers");
  expect(v3.notes).toContainEqual(expect.objectContaining({ level: "lost", path: "pages" }));
});

test("better stack: what has no type, what is left out, and whom monitors told", () => {
  const attributes = {
    monitor_type: "status",
    url: "https://www.test-site.org/",
    proxy_host: "p.test-site.org",
    email: true,
  };
  const { document, notes } = convert("betterstack", {
    "a.json": JSON.stringify({
      data: [
        { id: "1", attributes },
        { id: "2", type: "status_page", attributes: {} },
      ],
    }),
  });
  expect(document.monitors).toMatchObject({ "betterstack-1": { type: "http", active: false } });
  expect(notes.map(({ path }) => path)).toEqual(
    expect.arrayContaining(["monitor 1 (https://www.test-site.org/)", "things of type status_page", "monitors"]),
  );
});

test("better stack: monitors, groups, heartbeats and nights", () => {
  const monitor = (id: string, attributes: object) => ({ id, type: "monitor", attributes });
  const data = [
    { id: "9", type: "monitor_group", attributes: { name: "Core", paused: true } },
    monitor("1", {
      monitor_type: "keyword_absence",
      url: "https://www.test-site.org/",
      pronounceable_name: "Site",
      required_keyword: "error",
      check_frequency: 30,
      request_timeout: 15,
      confirmation_period: 60,
      request_headers: [{ name: "X", value: "y" }],
      monitor_group_id: 9,
      maintenance_from: "23:00:00",
      maintenance_to: "01:00:00",
      maintenance_days: ["mon", "tue"],
      maintenance_timezone: "Berlin",
      ssl_expiration: -1,
    }),
    monitor("2", { monitor_type: "smtp", url: "mail.test-site.org", port: "25,465", request_timeout: 20_000 }),
    monitor("3", { monitor_type: "udp", url: "h" }),
    { id: "4", type: "heartbeat", attributes: { name: "Job", period: 600, grace: 120, paused_at: null } },
  ];
  const { document, notes } = convert("betterstack", { "a.json": JSON.stringify({ data }) });
  expect(document.monitors).toMatchObject({
    "betterstack-1": {
      type: "keyword",
      keyword: "error",
      invert_keyword: true,
      maxretries: 3,
      headers: { X: "y" },
      active: false,
      tags: ["core"],
      ssl_expiration: 0,
    },
    "betterstack-2": { type: "smtp", host: "mail.test-site.org", port: 25, timeout: 20, active: false },
    "betterstack-4-heartbeat": { type: "push", period: 600, grace: 120 },
  });
  expect(Object.values(document.maintenance ?? {})).toMatchObject([
    { schedule: { type: "weekly", days: ["mon"], from: "23:00", minutes: 120 }, timezone: "Europe/Berlin" },
  ]);
  expect(notes).toContainEqual({ level: "lost", path: "monitor 3 (h)", message: "a check of type udp is left out" });
});

test("checkly: checks, groups and windows", () => {
  const checks = [
    {
      id: "a",
      name: "Api",
      checkType: "API",
      frequency: 0,
      frequencyOffset: 20,
      groupId: 5,
      request: {
        url: "https://api.test-site.org/",
        method: "POST",
        headers: [{ key: "X", value: "y" }],
        body: "{}",
        bodyType: "JSON",
        assertions: [
          { source: "STATUS_CODE", comparison: "EQUALS", target: "201" },
          { source: "JSON_BODY", property: "$.a[0].b", comparison: "EQUALS", target: "up" },
          { source: "HEADERS", comparison: "EQUALS", target: "x" },
        ],
      },
    },
    {
      id: "b",
      name: "Plain",
      checkType: "URL",
      frequency: 5,
      shouldFail: true,
      request: {
        url: "https://b.test-site.org/",
        queryParameters: [{ key: "of", value: "a b", locked: false }],
        skipSsl: true,
        ipFamily: "IPv6",
      },
    },
    {
      id: "c",
      name: "Job",
      checkType: "HEARTBEAT",
      heartbeat: { period: 1, periodUnit: "hours", grace: 5, graceUnit: "minutes" },
    },
    { id: "d", name: "Browser", checkType: "BROWSER" },
  ];
  const { document, notes } = convert("checkly", {
    "checks.json": JSON.stringify(checks),
    "groups.json": JSON.stringify([{ id: 5, name: "Core" }]),
    "windows.json": JSON.stringify([
      {
        id: 7,
        name: "Weekly",
        startsAt: "2026-12-01T02:00:00Z",
        endsAt: "2026-12-01T03:00:00Z",
        repeatUnit: "WEEK",
        repeatInterval: 1,
        tags: ["Prod"],
      },
    ]),
  });
  expect(document.monitors).toMatchObject({
    checkly_a: {
      interval: 20,
      method: "POST",
      headers: { X: "y", "Content-Type": "application/json" },
      body: "{}",
      accepted_statuscodes: ["201"],
      json_query: '$string($.a[0].b) = "up"',
      tags: ["imported:incomplete", "core"],
      active: false,
    },
    checkly_b: {
      url: "https://b.test-site.org/?of=a+b",
      interval: 300,
      accepted_statuscodes: ["400-599"],
      verify_certificate: false,
      ip_version: "ipv6",
    },
    checkly_c: { type: "push", period: 3_600, grace: 300 },
  });
  expect(document.maintenance).toMatchObject({
    checkly_7: {
      select: { any_tag: ["prod"] },
      schedule: { type: "weekly", days: ["tue"], from: "02:00", minutes: 60 },
    },
  });
  expect(notes).toContainEqual({
    level: "lost",
    path: "check Browser",
    message: "a check of type BROWSER is left out",
  });
});

test("openstatus: a map by logical id, and a list", () => {
  const { document } = convert("openstatus", {
    "openstatus.yaml": `
shop: { name: Shop, kind: http, frequency: 1m, retry: 2, timeout: 10000, degradedAfter: 3000, regions: [ams], request: { url: "https://shop.test-site.org/" }, assertions: [{ kind: statusCode, compare: lt, target: 300 }, { kind: textBody, compare: contains, target: ok }] }
db: { name: Db, kind: tcp, active: false, request: { host: db.test-site.org, port: 5432 } }
`,
    "list.yaml":
      'monitors: [{ name: Two, kind: http, request: { url: "https://two.test-site.org/" }, assertions: [{ kind: header, compare: eq, key: a, target: b }] }]',
  });
  expect(document.monitors).toMatchObject({
    shop: {
      type: "keyword",
      keyword: "ok",
      interval: 60,
      maxretries: 3,
      max_response_time: 3_000,
      accepted_statuscodes: ["100-299"],
    },
    db: { type: "port", host: "db.test-site.org", port: 5_432, active: false },
    two: { active: false, tags: ["imported:incomplete"] },
  });
});
