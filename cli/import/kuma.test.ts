import { expect, test } from "vitest";
import { atOnce } from "./importer.ts";
import { kuma } from "./kuma.ts";

const OPTIONS = { nowMs: Date.parse("2026-11-26T00:00:00Z") };
const defaults = {
  active: true,
  interval: 60,
  retryInterval: 60,
  resendInterval: 0,
  maxretries: 0,
  timeout: 48,
  method: "GET",
  maxredirects: 10,
  accepted_statuscodes: ["200-299"],
  packetSize: 56,
  httpBodyEncoding: "json",
  headers: null,
  body: null,
  authMethod: null,
  expiryNotification: false,
  notificationIDList: {},
  tags: [],
};

function convert(monitors: readonly object[], more: object = {}, options: object = {}) {
  const backup = { version: "1.23.13", notificationList: [], monitorList: monitors, ...more };
  return atOnce(kuma.convert([{ name: "backup.json", text: JSON.stringify(backup) }], { ...OPTIONS, ...options }));
}

test("monitors of every kind that there is here come over", () => {
  const { document, notes } = convert([
    { ...defaults, id: 1, name: "Shop", type: "http", url: "https://www.test-site.org/", expiryNotification: true },
    {
      ...defaults,
      id: 2,
      type: "keyword",
      name: "Word",
      url: "http://www.test-site.org/",
      keyword: "ok",
      invertKeyword: true,
    },
    { ...defaults, id: 3, type: "ping", name: "Host", hostname: "www.test-site.org", maxretries: 2 },
    { ...defaults, id: 4, type: "port", name: "Db", hostname: "db.test-site.org", port: 5432, timeout: 0 },
    {
      ...defaults,
      id: 5,
      type: "dns",
      name: "Zone",
      hostname: "test-site.org",
      port: 53,
      dns_resolve_server: "9.9.9.9, 1.1.1.1",
      dns_resolve_type: "MX",
    },
    {
      ...defaults,
      id: 6,
      type: "push",
      name: "Job",
      pushToken: "aB3dE5gH1j",
      interval: 3_600,
      retryInterval: 60,
      maxretries: 5,
    },
    {
      ...defaults,
      id: 7,
      type: "smtp",
      name: "Mail",
      hostname: "mail.test-site.org",
      port: 465,
      smtpSecurity: "secure",
    },
  ]);
  expect(document.monitors).toEqual({
    "kuma-1": {
      type: "http",
      name: "Shop",
      url: "https://www.test-site.org/",
      interval: 60,
      timeout: 48,
      maxretries: 1,
      ssl_expiration: 14,
    },
    "kuma-2": {
      type: "keyword",
      name: "Word",
      url: "http://www.test-site.org/",
      keyword: "ok",
      invert_keyword: true,
      interval: 60,
      timeout: 48,
      maxretries: 1,
    },
    "kuma-3": { type: "ping", name: "Host", host: "www.test-site.org", interval: 60, timeout: 48, maxretries: 3 },
    "kuma-4": {
      type: "port",
      name: "Db",
      host: "db.test-site.org",
      port: 5432,
      interval: 60,
      timeout: 48,
      maxretries: 1,
    },
    "kuma-5": {
      type: "dns",
      name: "Zone",
      domain: "test-site.org",
      host: "9.9.9.9",
      port: 53,
      record_type: "MX",
      interval: 60,
      timeout: 48,
      maxretries: 1,
    },
    "kuma-6": { type: "push", name: "Job", period: 3_600, grace: 300, token: "aB3dE5gH1j" },
    "kuma-7": {
      type: "smtp",
      name: "Mail",
      host: "mail.test-site.org",
      port: 465,
      security: "tls",
      ssl_expiration: 0,
      interval: 60,
      timeout: 48,
      maxretries: 1,
    },
  });
  expect(notes.filter(({ level }) => level === "lost")).toEqual([]);
});

test("requests keep their method, headers, body, login and query", () => {
  const web = { ...defaults, type: "http", url: "https://api.test-site.org/" };
  const { document } = convert([
    {
      ...web,
      id: 1,
      name: "a",
      method: "POST",
      headers: '{"X-Key": "k"}',
      body: '{"a":1}',
      ignoreTls: true,
      upsideDown: true,
      maxredirects: 0,
    },
    {
      ...web,
      id: 2,
      name: "b",
      authMethod: "basic",
      basic_auth_user: "ada",
      basic_auth_pass: "pw",
      accepted_statuscodes: ["200-299", "401", "600-900"],
    },
    {
      ...web,
      id: 3,
      name: "c",
      type: "json-query",
      jsonPath: "queue.length",
      jsonPathOperator: "<",
      expectedValue: "10",
    },
    {
      ...web,
      id: 4,
      name: "d",
      type: "json-query",
      jsonPath: "state",
      expectedValue: "up",
      authMethod: "bearer",
      bearer_token: "abc",
    },
  ]);
  expect(document.monitors).toMatchObject({
    "kuma-1": {
      method: "POST",
      headers: { "X-Key": "k", "Content-Type": "application/json" },
      body: '{"a":1}',
      verify_certificate: false,
      invert: true,
      max_redirects: 0,
    },
    "kuma-2": { basic_auth_username: "ada", basic_auth_password: "pw", accepted_statuscodes: ["200-299", "401"] },
    "kuma-3": { type: "http", json_query: "$number(queue.length) < 10" },
    "kuma-4": { type: "http", json_query: "state", json_expected: "up", bearer_token: "abc" },
  });
});

test("what would watch something else comes over paused, and says why", () => {
  const web = { ...defaults, type: "http", url: "https://api.test-site.org/" };
  const { document, notes } = convert(
    [
      { ...web, id: 1, name: "ntlm", authMethod: "ntlm" },
      { ...web, id: 2, name: "proxy", proxyId: 7 },
      { ...web, id: 3, name: "idle proxy", proxyId: 8 },
      { ...defaults, id: 4, name: "period", type: "push", pushToken: "x", interval: 2_000_000 },
      { ...defaults, id: 5, name: "upside", type: "ping", hostname: "www.test-site.org", upsideDown: true },
      { ...web, id: 6, name: "long", type: "keyword", keyword: "k".repeat(300) },
      { ...web, id: 7, name: "none", type: "http", url: "ftp://api.test-site.org/" },
      {
        ...defaults,
        id: 8,
        name: "redis",
        type: "redis",
        databaseConnectionString: "redis://:pw@cache.test-site.org:6380/0",
      },
    ],
    {
      proxyList: [
        { id: 7, active: true },
        { id: 8, active: false },
      ],
    },
  );
  const paused = Object.entries(document.monitors ?? {}).filter(
    ([, { active, tags }]) => active === false && tags?.includes("imported:incomplete"),
  );
  expect(paused.map(([key]) => key)).toEqual(["kuma-1", "kuma-2", "kuma-4", "kuma-5", "kuma-6"]);
  expect(Object.keys(document.monitors ?? {})).toContain("kuma-3");
  expect(notes).toContainEqual({
    level: "lost",
    path: "monitor 7 (none)",
    message: "left out: url must begin with http:// or https://.",
  });
  expect(notes).toContainEqual({
    level: "lost",
    path: "monitor 8 (redis)",
    message: "a check of type redis is left out; --as-port watches its port",
  });
  expect(JSON.stringify(notes)).not.toContain("pw@");
});

test("--as-port watches the ports of databases", () => {
  const rows = [
    {
      ...defaults,
      id: 1,
      name: "r",
      type: "redis",
      databaseConnectionString: "redis://:pw@cache.test-site.org:6380/0",
    },
    {
      ...defaults,
      id: 2,
      name: "s",
      type: "sqlserver",
      databaseConnectionString: "Server=db.test-site.org,1444;User Id=sa",
    },
    { ...defaults, id: 3, name: "m", type: "mqtt", hostname: "mqtt://broker.test-site.org", port: 1883 },
    { ...defaults, id: 4, name: "g", type: "gamedig", hostname: "game.test-site.org", port: 27015 },
  ];
  const { document } = convert(rows, {}, { asPort: true });
  expect(document.monitors).toMatchObject({
    "kuma-1": { type: "port", host: "cache.test-site.org", port: 6380, tags: ["was:redis"] },
    "kuma-2": { type: "port", host: "db.test-site.org", port: 1444, tags: ["was:sqlserver"] },
    "kuma-3": { type: "port", host: "broker.test-site.org", port: 1883, tags: ["was:mqtt"] },
  });
  expect(Object.keys(document.monitors ?? {})).toHaveLength(3);
});

test("groups become tags, and a child is active as far as its groups are", () => {
  const { document } = convert([
    { ...defaults, id: 1, name: "Europe", type: "group", active: 0 },
    { ...defaults, id: 2, name: "Web", type: "group", parent: 1, active: true },
    {
      ...defaults,
      id: 3,
      name: "Shop",
      type: "ping",
      hostname: "www.test-site.org",
      parent: 2,
      active: 1,
      tags: [{ tag_id: 4, name: "Prod", value: "eu" }],
    },
    { ...defaults, id: 4, name: "Loop", type: "group", parent: 4 },
    { ...defaults, id: 5, name: "In", type: "ping", hostname: "www.test-site.org", parent: 4 },
  ]);
  expect(document.monitors).toMatchObject({
    "kuma-3": { active: false, tags: ["europe", "europe/web", "prod:eu"] },
    "kuma-5": { tags: ["loop"] },
  });
});

test("monitors that told the same share a rule", () => {
  const ping = { ...defaults, type: "ping", hostname: "www.test-site.org" };
  const list = [
    {
      id: 1,
      name: "Ops",
      active: true,
      isDefault: true,
      config: JSON.stringify({ type: "telegram", telegramBotToken: "123456789:AAbbccdd", telegramChatID: "-100" }),
    },
    {
      id: 2,
      name: "Ops",
      active: 1,
      config: JSON.stringify({
        type: "smtp",
        smtpHost: "mail.test-site.org",
        smtpPort: 587,
        smtpUsername: "a@b",
        smtpPassword: "p:w",
        smtpFrom: "a@test-site.org",
        smtpTo: "b@test-site.org, c@test-site.org",
      }),
    },
    {
      id: 4,
      name: "Bad",
      active: true,
      config: JSON.stringify({ type: "gotify", gotifyserverurl: "https://push.test-site.org/" }),
    },
    { id: 3, name: "SMS", active: true, config: JSON.stringify({ type: "clicksendsms" }) },
  ];
  const { document, notes } = convert(
    [
      { ...ping, id: 1, name: "a", notificationIDList: { 1: true, 3: true } },
      { ...ping, id: 2, name: "b", notificationIDList: { 1: true } },
      { ...ping, id: 3, name: "c", notificationIDList: { 1: true, 2: true }, resendInterval: 10 },
      { ...ping, id: 4, name: "d" },
    ],
    { notificationList: list },
  );
  expect(document.channels).toEqual({
    "kuma-1": { kind: "telegram", name: "Ops", token: "123456789:AAbbccdd", chat_id: "-100" },
    "kuma-2": {
      kind: "email",
      name: "Ops 2",
      to: ["b@test-site.org", "c@test-site.org"],
      from: "a@test-site.org",
      smtp_url: "smtp://a%40b:p%3Aw@mail.test-site.org:587",
    },
  });
  const rule = { group_by: "monitor", wait_s: 0 };
  expect(document.alert_rules).toEqual([
    { name: "Alerts 1", match: { select: { tags: ["alert:1"] } }, channels: ["kuma-1"], ...rule },
    {
      name: "Alerts 2",
      match: { select: { tags: ["alert:2"] } },
      channels: ["kuma-1", "kuma-2"],
      ...rule,
      repeat_s: 600,
      repeat_growth: 1,
    },
  ]);
  expect(Object.values(document.monitors ?? {}).map(({ tags }) => tags)).toEqual([
    ["alert:1"],
    ["alert:1"],
    ["alert:2"],
    undefined,
  ]);
  expect(notes).toContainEqual({
    level: "lost",
    path: "notification 3 (SMS)",
    message: "notifications by clicksendsms are left out",
  });
  expect(notes).toContainEqual({
    level: "lost",
    path: "channel Bad",
    message: "the channel is left out: token is missing",
  });
  const alone = convert([{ ...ping, id: 1, name: "a", notificationIDList: { 1: true } }], { notificationList: list });
  expect(alone.document.alert_rules).toEqual([{ name: "Default", channels: ["kuma-1"], ...rule }]);
});

test("checks of one host agree on the days of a warning", () => {
  const web = { ...defaults, type: "http", expiryNotification: true };
  const { document, notes } = convert([
    { ...web, id: 1, name: "a", url: "https://www.test-site.org/a" },
    { ...web, id: 2, name: "b", url: "https://www.test-site.org/b", expiryNotification: false },
    { ...web, id: 3, name: "c", url: "http://www.test-site.org/c" },
  ]);
  expect(Object.values(document.monitors ?? {}).map(({ ssl_expiration }) => ssl_expiration)).toEqual([
    14,
    14,
    undefined,
  ]);
  expect(notes).toContainEqual({
    level: "changed",
    path: "kuma-2",
    message: "ssl_expiration is 14 days: checks of www.test-site.org share it",
  });
});

test("a text that looks like a placeholder of ours is none", () => {
  const { document } = convert([
    { ...defaults, id: 1, name: `\${env:HOME}`, type: "http", url: "https://www.test-site.org/", body: `\${file:x}` },
  ]);
  expect(document.monitors?.["kuma-1"]).toMatchObject({ name: `$\${env:HOME}`, body: `$\${file:x}` });
});

test("another file says what it lacks", () => {
  const read = (text: string) => () => atOnce(kuma.convert([{ name: "x.json", text }], OPTIONS));
  expect(read("{")).toThrow("x.json: it is not JSON");
  expect(read("[]")).toThrow("x.json: it has no monitorList, as a backup of Uptime Kuma has");
  expect(read('{"monitorList": [1, null, {"id": "x"}, {"id": 4}]}')).not.toThrow();
});
