/** What the API answers while pictures are taken: the same each time, of the shapes that the page knows. */

export const NOW = "2026-11-26T08:00:00.000Z";
const ago = (seconds: number): string => new Date(Date.parse(NOW) - seconds * 1_000).toISOString();

const CITIES = ["Berlin", "Tokyo", "Falkenstein", "İstanbul", "تهران", "São Paulo"] as const;
const COUNT = 240;
/** Most are healthy, as in life; each status is there. */
const letterOf = (n: number): string =>
  n % 41 === 3 ? "d" : n % 53 === 5 ? "g" : n % 67 === 9 ? "p" : n % 31 === 7 ? "z" : n % 97 === 11 ? "m" : "h";
const NUMBERS = Array.from({ length: COUNT }, (_, n) => n);
const letters = NUMBERS.map(letterOf);
const countOf = (letter: string): number => letters.filter((one) => one === letter).length;

const session = {
  user: { id: 1, name: "Ada Byron", email: "ada@test-site.org" },
  organizations: [{ id: 1, name: "Acme", role: "owner", plan: "business" }],
  projects: [{ id: "prj_1", name: "Production", organization_id: 1, role: "owner" }],
  default_organization_id: 1,
  default_project_id: "prj_1",
  expires_at: ago(-86_400),
};

const overview = {
  at: NOW,
  counts: {
    ...{ healthy: countOf("h"), down: countOf("d"), degraded: countOf("g"), partial: countOf("p") },
    ...{ paused: countOf("z"), unknown: 0, maintenance: countOf("m") },
  },
  incidents: { active: 2, unacknowledged: 1 },
  service: { late_p99_ms: 41, silent: 0, spool_rows: 0, condition: null },
  expiring: [
    { what: "certificate", id: 13, expires_at: ago(-6 * 86_400) },
    { what: "certificate", id: 18, expires_at: ago(86_400) },
  ],
  interval_s: NUMBERS.map((n) => (n % 7 === 0 ? 300 : 60)),
  status: letters.join(""),
  latency_ms: NUMBERS.map((n) => ("dz".includes(letterOf(n)) ? null : 12 + ((n * 37) % 400))),
  checked_s: NUMBERS.map((n) => (letterOf(n) === "z" ? null : n % 50)),
  since_s: NUMBERS.map((n) => 60 + n * 977),
  kinds: ["http", "vless", "wireguard", "ping"],
  tags: ["prod", "edge", "backup"],
  subscriptions: [{ id: 1, name: "Provider A" }],
  ids: NUMBERS.map((n) => n + 1),
  names: NUMBERS.map(
    (n) => `${CITIES[n % CITIES.length]} ${n}${n % 29 === 4 ? " with a name that is longer than its place" : ""}`,
  ),
  kind: NUMBERS.map((n) => n % 4),
  tag: NUMBERS.map((n) => (n % 5 === 0 ? [] : n % 3 === 0 ? [0, 1] : [n % 3])),
  subscription: NUMBERS.map((n) => (n % 4 === 1 ? 0 : null)),
};

const incident = (n: number, active: boolean) => ({
  ...{ id: `inc_${n}`, server_id: `srv_${n}`, server_name: `${CITIES[n % CITIES.length]} ${n}` },
  ...{ status: active ? "active" : "recovered", severity: n % 2 === 0 ? "critical" : "warning" },
  ...{ started_at: ago(n * 700), ended_at: active ? null : ago(n * 500) },
  ...{ acknowledged: n === 2, acknowledged_at: n === 2 ? ago(60) : null, error_type: "down" },
  error_message:
    n % 2 === 0 ? "Answered with status 503, accepted is 200-299" : "The tunnel opened, and nothing came back",
});
const incidents = {
  incidents: [1, 2, 3, 4, 5, 6].map((n) => incident(n, n <= 2)),
  total: 6,
  active: 2,
};

const maintenances = {
  maintenances: [
    {
      id: "mnt_1",
      server_id: "srv_4",
      server_name: "Falkenstein 4",
      starts_at: ago(900),
      ends_at: ago(-900),
      state: "active",
    },
    {
      id: "mnt_2",
      server_id: "srv_9",
      server_name: "Tokyo 9",
      starts_at: ago(-9_000),
      ends_at: ago(-12_600),
      state: "next",
    },
  ],
  total: 2,
  schedules: [
    {
      ...{ id: "mnt_7", title: "Backups", text: "", select: { any_tag: ["backup"] }, timezone: "Europe/Berlin" },
      ...{ schedule: { type: "weekly", days: [2, 4], from: "02:00", minutes: 90 }, starts_on: null, ends_on: null },
      ...{ announce: true, state: "next", next_starts_at: ago(-66_000), created_at: ago(86_400) },
    },
  ],
};

const keys = {
  keys: [
    {
      ...{ id: 1, name: "Terraform", userID: 1, organizationId: null, createdDate: ago(9_000_000), expires: null },
      ...{ lastUsedAt: ago(240), status: "active", active: 1 },
    },
    {
      ...{ id: 2, name: "Laptop of Ada", userID: 1, organizationId: 1, createdDate: ago(900_000), expires: ago(60) },
      ...{ lastUsedAt: null, status: "expired", active: 0 },
    },
  ],
  total: 2,
};

const machine = (name: string, healthy: boolean) => ({
  ...{ name, version: "0.1.0", healthy, fit: healthy, reasons: [], clock_offset_ms: healthy ? -3 : 4_100 },
  ...{ running: 12, room: 512, seen_at: ago(9) },
});
const service = {
  ...{ at: NOW, version: "0.1.0", started_at: ago(90_000), http_server: "net", database: "postgres" },
  ...{ database_trouble: null, queue_trouble: null, condition: null, warnings_of_service: ["checkers_idle"] },
  schedulers: [
    {
      ...{ name: "scheduler-1", shards: 32, monitors: 240, running: 4, waiting: 0, silent_monitors: 0 },
      ...{ skipped_turns: 2, spool_rows: 0, trouble: null },
    },
  ],
  ...{ free_shards: 0, skipped_turns: 2, waiting_deliveries: 1 },
  checkers: [
    { code: "any", healthy_checkers: 0, machines: [] },
    { code: "de", healthy_checkers: 1, machines: [machine("de-1", true), machine("de-2", false)] },
  ],
};

const recent = {
  servers: Object.fromEntries(
    NUMBERS.map((n) => {
      const places = Array.from({ length: n % 5 === 0 ? 17 : 100 }, (_, place) => place);
      const letters = places.map((place) => ((place * n) % 37 === 3 ? "d" : (place * n) % 29 === 4 ? "g" : "h"));
      return [
        `srv_${n + 1}`,
        { status: letters.join(""), latency_ms: places.map((place) => 20 + place), tested_s: [] },
      ];
    }),
  ),
};

/** By the path below /api/v1. */
export const ANSWERS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["/session", session],
  ["/overview", overview],
  ["/incidents", incidents],
  ["/maintenances", maintenances],
  ["/results/recent", recent],
  ["/views", { views: [], total: 0 }],
  ["/keys", keys],
  ["/service", service],
]);
