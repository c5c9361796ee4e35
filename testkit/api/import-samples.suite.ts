/** One file or two of every source, as its program writes them, with most of what comes over. */

interface Sample {
  readonly source: string;
  readonly files: readonly { readonly name: string; readonly text: string }[];
  /** Things of its document. */
  readonly things: number;
}

const KUMA = {
  version: "1.23.13",
  notificationList: [
    {
      id: 1,
      name: "Ops",
      active: true,
      config: '{"type":"telegram","telegramBotToken":"123456789:AAbbccdd","telegramChatID":"-100"}',
    },
    {
      id: 2,
      name: "Hook",
      active: true,
      config: '{"type":"webhook","webhookURL":"https://hook.test-site.org/","webhookContentType":"json"}',
    },
    {
      id: 3,
      name: "Mail",
      active: true,
      config:
        '{"type":"smtp","smtpHost":"mail.test-site.org","smtpPort":587,"smtpUsername":"a@b","smtpPassword":"p:w","smtpFrom":"a@test-site.org","smtpTo":"b@test-site.org"}',
    },
  ],
  monitorList: [
    { id: 1, name: "Europe", type: "group", active: true },
    {
      ...{
        id: 2,
        name: "Shop",
        type: "http",
        url: "https://www.test-site.org/",
        interval: 60,
        maxretries: 2,
        timeout: 48,
      },
      ...{
        method: "POST",
        headers: '{"X-Key": "k"}',
        body: '{"a":1}',
        authMethod: "basic",
        basic_auth_user: "ada",
        basic_auth_pass: "pw",
      },
      ...{ ignoreTls: true, upsideDown: true, maxredirects: 0, expiryNotification: true, parent: 1 },
      ...{ notificationIDList: { 1: true, 2: true }, accepted_statuscodes: ["200-299", "401"] },
    },
    {
      id: 3,
      name: "Word",
      type: "keyword",
      url: "https://w.test-site.org/",
      keyword: "ok",
      invertKeyword: true,
      notificationIDList: { 3: true },
    },
    {
      id: 4,
      name: "Queue",
      type: "json-query",
      url: "https://q.test-site.org/",
      jsonPath: "queue.length",
      jsonPathOperator: "<",
      expectedValue: "10",
    },
    {
      id: 5,
      name: "Host",
      type: "ping",
      hostname: "host.test-site.org",
      tags: [{ tag_id: 4, name: "Prod", value: "eu" }],
    },
    { id: 6, name: "Db", type: "port", hostname: "db.test-site.org", port: 5432 },
    {
      id: 7,
      name: "Zone",
      type: "dns",
      hostname: "test-site.org",
      port: 53,
      dns_resolve_server: "9.9.9.9",
      dns_resolve_type: "MX",
    },
    { id: 8, name: "Job", type: "push", pushToken: "aB3dE5gH1j", interval: 3_600 },
    { id: 9, name: "Mail", type: "smtp", hostname: "mail.test-site.org", port: 465, smtpSecurity: "secure" },
  ],
};
const GATUS = `alerting:
  slack: { webhook-url: "https://hooks.slack.com/services/T/B/x", default-alert: { failure-threshold: 4, send-on-resolved: true } }
  ntfy: { topic: sonde, url: "https://ntfy.test-site.org", priority: 3 }
endpoints:
  - name: Front Page
    group: core
    url: https://www.test-site.org/health
    method: POST
    headers: { X-Key: k }
    body: '{"a": 1}'
    client: { timeout: 20s, insecure: true, ignore-redirect: true }
    conditions: ["[STATUS] == any(200, 301)", "[BODY].items[0].n > 3", "[RESPONSE_TIME] < 500", "[CERTIFICATE_EXPIRATION] > 48h"]
    alerts: [{ type: slack }, { type: ntfy, failure-threshold: 6 }]
    maintenance-windows: [{ start: "23:00", duration: 2h, timezone: Europe/Berlin, every: [Monday] }]
  - { name: zone, url: 9.9.9.9, dns: { query-name: test-site.org, query-type: MX }, conditions: ["[DNS_RCODE] == NOERROR"] }
  - { name: mail, url: "starttls://mail.test-site.org:587", conditions: ["[CERTIFICATE_EXPIRATION] > 240h"] }
  - { name: host, url: "icmp://host.test-site.org", conditions: ["[CONNECTED] == true"] }
external-endpoints: [{ name: job, token: abc, heartbeat: { interval: 30m } }]
`;
const PROMETHEUS = `scrape_configs:
  - { job_name: web, metrics_path: /probe, params: { module: [web] }, static_configs: [{ targets: ["https://www.test-site.org/a"], labels: { team: Web } }] }
  - { job_name: ports, metrics_path: /probe, params: { module: [mail] }, static_configs: [{ targets: ["mail.test-site.org:25"] }] }
  - { job_name: zone, metrics_path: /probe, params: { module: [zone] }, static_configs: [{ targets: ["9.9.9.9"] }] }
`;
const MODULES = `modules:
  web: { prober: http, timeout: 15s, http: { valid_status_codes: [200], fail_if_body_not_matches_regexp: ["^ok.*"], basic_auth: { username: ada, password: pw } } }
  mail: { prober: tcp, tcp: { query_response: [{ expect: "^220" }, { send: "EHLO x" }, { starttls: true }] } }
  zone: { prober: dns, dns: { query_name: test-site.org, query_type: SOA } }
`;
const UPTIMEROBOT = {
  data: [
    {
      id: 1,
      type: "HTTP",
      friendlyName: "Site",
      url: "https://www.test-site.org/",
      interval: 300,
      timeout: 30,
      httpMethodType: "HEAD",
      successHttpResponseCodes: ["2xx"],
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
  ],
  nextLink: null,
};
const BETTERSTACK = {
  data: [
    { id: "9", type: "monitor_group", attributes: { name: "Core" } },
    {
      id: "1",
      type: "monitor",
      attributes: {
        ...{
          monitor_type: "keyword",
          url: "https://www.test-site.org/",
          pronounceable_name: "Site",
          required_keyword: "ok",
        },
        ...{
          check_frequency: 30,
          confirmation_period: 60,
          request_headers: [{ name: "X", value: "y" }],
          monitor_group_id: 9,
        },
        ...{
          maintenance_from: "23:00:00",
          maintenance_to: "01:00:00",
          maintenance_days: ["mon"],
          maintenance_timezone: "Berlin",
        },
      },
    },
    { id: "4", type: "heartbeat", attributes: { name: "Job", period: 600, grace: 120, paused_at: null } },
  ],
};
const CHECKLY = [
  {
    ...{ id: "a", name: "Api", checkType: "API", frequency: 0, frequencyOffset: 30 },
    request: {
      ...{
        url: "https://api.test-site.org/",
        method: "POST",
        body: "{}",
        bodyType: "JSON",
        headers: [{ key: "X", value: "y" }],
      },
      assertions: [
        { source: "STATUS_CODE", comparison: "EQUALS", target: "201" },
        { source: "JSON_BODY", property: "$.a[0].b", comparison: "EQUALS", target: "up" },
      ],
    },
  },
  {
    id: "c",
    name: "Job",
    checkType: "HEARTBEAT",
    heartbeat: { period: 1, periodUnit: "hours", grace: 5, graceUnit: "minutes" },
  },
];
const OPENSTATUS = `shop: { name: Shop, kind: http, frequency: 1m, retry: 2, timeout: 10000, degradedAfter: 3000, request: { url: "https://shop.test-site.org/" }, assertions: [{ kind: textBody, compare: contains, target: ok }] }
db: { name: Db, kind: tcp, active: false, request: { host: db.test-site.org, port: 5432 } }
`;

export const IMPORT_SAMPLES: readonly Sample[] = [
  { source: "kuma", things: 13, files: [{ name: "backup.json", text: JSON.stringify(KUMA) }] },
  { source: "gatus", things: 10, files: [{ name: "config.yaml", text: GATUS }] },
  {
    source: "blackbox",
    things: 3,
    files: [
      { name: "prometheus.yml", text: PROMETHEUS },
      { name: "blackbox.yml", text: MODULES },
    ],
  },
  {
    source: "xray-checker",
    things: 2,
    files: [
      {
        name: ".env",
        text: "SUBSCRIPTION_URL=https://sub.test-site.org/t0ken\nPROXY_CHECK_INTERVAL=60\nWEB_PUBLIC=true\n",
      },
    ],
  },
  { source: "uptimerobot", things: 4, files: [{ name: "m.json", text: JSON.stringify(UPTIMEROBOT) }] },
  { source: "betterstack", things: 3, files: [{ name: "a.json", text: JSON.stringify(BETTERSTACK) }] },
  { source: "checkly", things: 2, files: [{ name: "checks.json", text: JSON.stringify(CHECKLY) }] },
  { source: "openstatus", things: 2, files: [{ name: "openstatus.yaml", text: OPENSTATUS }] },
];
