/**
 * Which room may import from which (docs/develop/architecture.md). Each room lists what it may reach; everything else is refused, so a new file
 * or folder is covered without a line here. Tests may reach further than the code they test, but nothing reaches them.
 */
const TESTS = String.raw`(\.(test|suite)\.ts$|^test(kit)?/)`;
/** Product folders, and the words of each: what it may import of ours besides itself. */
const ROOMS = {
  model: [],
  native: [],
  engine: ["^model/", "^native/"],
  store: ["^model/", "^native/(sandbox/|(make-folder|start-pages)\\.ts$)"],
  scheduler: ["^model/", "^store/", "^engine/", "^log\\.ts$"],
  // A checker has no database: Redis, the probers, and what runs and trusts checks.
  checker: ["^model/", "^store/state/", "^store/(errors|sealed-text)\\.ts$", "^engine/", "^scheduler/(run/one-off|metrics)\\.ts$", "^log\\.ts$"],
  // Kinds of channels describe themselves, as probes do; sending is handed in.
  api: ["^model/", "^store/", "^engine/contract/registry\\.ts$", "^scheduler/alerts/channels/(channel|define|index|sample|settings)\\.ts$", "^scheduler/alerts/rule-words\\.ts$", "^cli/import/(importer|index|report)\\.ts$", "^engine/subscription/links\\.ts$"],
  // What the operator does on the stores themselves; answers look like the API's.
  "cli/admin": ["^cli/", "^config\\.ts$", "^engine/contract/registry\\.ts$", "^model/", "^store/", "^api/((key|webhook)-view|rule-body)\\.ts$", "^scheduler/alerts/attempts/attempts\\.ts$", "^scheduler/alerts/channels/(channel|define|index|sample|send|settings)\\.ts$"],
  // Backup, restore, and the move from one kind of stores to the other.
  "cli/transfer": ["^cli/", "^config\\.ts$", "^log\\.ts$", "^model/", "^store/", "^version\\.ts$"],
  // Checks without a server: probers in this process, what reads links and lists, and what an outcome is called.
  "cli/(check|bulk)": [
    "^cli/",
    "^config\\.ts$",
    "^engine/direct/(direct|links)\\.ts$",
    "^engine/contract/registry\\.ts$",
    "^engine/net/",
    "^engine/subscription/",
    "^engine/transport/",
    "^engine/protocols/(share-link/|amneziawg/params\\.ts$)",
    "^model/",
  ],
  // Files of other programs become documents; the API does it too. Only the command line opens a database.
  // The schema of documents is made from what the API reads.
  "cli/document": ["^cli/", "^model/document/", "^api/apply/words\\.ts$"],
  "cli/import": ["^cli/", "^engine/contract/registry\\.ts$", "^model/", "^scheduler/alerts/channels/index\\.ts$", "^store/sqlite-library\\.ts$"],
  cli: ["^config\\.ts$", "^model/(plan|subscription|url)\\.ts$", "^model/document/", "^native/(sandbox/own-process|young-heap)\\.ts$", "^version\\.ts$", "^log\\.ts$", "^engine/cores/(core|install|program)\\.ts$"],
  // Runs in a browser: words and rules that are pure, and nothing else of ours.
  web: ["^model/"],
  // Its VPN servers speak what the probes speak, from the other side; its proxy server is a core.
  demo: [
    "^cli/",
    "^config\\.ts$",
    "^engine/contract/registry\\.ts$",
    "^engine/cores/(core-process|program)\\.ts$",
    "^engine/protocols/(icmp/echo|inner/packet|openconnect/cstp)\\.ts$",
    "^engine/protocols/(ikev2|openvpn|wireguard)/",
    "^model/plan\\.ts$",
  ],
};
/** What puts rooms together; nothing but these, the commands that start them, and tests import them. */
const WIRING = "^roles/";
/** The roles are the commands that wire the service; all others are clients of a running one. */
const WIRING_COMMANDS = "^cli/commands/(up|api|scheduler|checker)\\.ts$";
/** What runs checks without a database: a checker, `sonde check`, and a prober's thread. */
const CHECKER = "^roles/checker\\.ts$|^checker/|^engine/(direct/direct|prober/worker)\\.ts$";
const DATABASE = "^store/sql/|^store/sqlite-library\\.ts$|^node_modules/(@types/)?(better-sqlite3(-napi)?|pg|kysely)/|^(better-sqlite3(-napi)?|pg|kysely)(/|$)";
/** Words and types of SQL's side. They load nothing; what one of them came to import would be found through it. */
const PORTS = "^store/sql/.*port\\.ts$";
const CLI_ROOMS = "^cli/(admin|check|bulk|document|import|transfer)/";

/** Packages and Node modules that belong to one place: who may import them. */
const OWNERS = {
  piscina: "^engine/pool/pool\\.ts$",
  "better-sqlite3(-napi)?": "^store/sqlite-library\\.ts$",
  pg: "^store/sql/",
  kysely: "^store/sql/",
  ioredis: "^store/state/",
  "@clickhouse/client": "^store/results/",
  chdb: "^store/results/embedded/",
  koffi: "^native/|^store/results/embedded/",
  undici: "^engine/web/",
  rdapper: "^engine/rdap/",
  re2js: "^engine/text-judge/",
  jsonata: "^engine/text-judge/",
  tweetnacl: "^engine/protocols/",
  "@noble/hashes": "^engine/protocols/",
  "@noble/ciphers": "^engine/protocols/|^demo/tunnels/wireguard-responder\\.ts$",
  "zod-openapi": "^api/openapi\\.ts$",
  "js-yaml": "^api/openapi\\.ts$|^engine/subscription/(clash-list|write-clash)\\.ts$|^model/document/(yaml|write)\\.ts$|^cli/import/yaml\\.ts$",
  feed: "^api/pages/",
  "badge-maker": "^api/pages/",
  micromark: "^api/pages/",
  "openid-client": "^api/oidc/provider\\.ts$",
  "@simplewebauthn/server": "^api/passkeys/proof\\.ts$",
  commander: "^cli/",
  "cli-table3": "^cli/",
  tinybench: "^bench/",
};
/** Who starts processes: the embedded engine, proxy cores, the last fallback of ping, and what measures us from outside. */
const SPAWNERS = "^engine/bounded/bounded-process\\.ts$|^store/results/embedded/|^native/system-ping\\.ts$|^native/sandbox/(confined|broker-service)\\.ts$|^engine/cores/(install|program|core-process)\\.ts$|^bench/";

const rooms = Object.entries(ROOMS).map(([room, others]) => ({
  name: `room-${room}`,
  comment: `${room}/ may import only itself${others.length > 0 ? ` and ${others.join(", ")}` : ""}`,
  severity: "error",
  from: { path: `^${room}/`, pathNot: [TESTS, ...(room === "cli" ? [WIRING_COMMANDS, CLI_ROOMS] : [])] },
  to: {
    dependencyTypes: ["local"],
    pathNot: [`^${room}/`, ...others],
  },
}));

/**
 * Folders inside a room, from the top floor down: what each may import of its room besides itself. Files at the room's root are leaves that all
 * may import. A folder that is not here may be imported by none and imports none.
 */
const FLOORS = {
  engine: {
    direct: ["pool", "trust", "limits", "cores", "verify", "transport", "net", "contract"],
    pool: ["prober", "trust", "cores", "key-opener", "text-judge", "transport", "verify", "net", "contract"],
    prober: ["run", "cores", "key-opener", "text-judge", "rdap", "transport", "verify", "net", "contract"],
    trust: ["transport", "protocols", "net", "contract"],
    run: ["transport", "net", "contract"],
    probes: ["web", "tunnels", "transport", "protocols", "net", "contract"],
    subscription: ["transport", "protocols", "net", "contract"],
    rdap: ["web", "transport"],
    tunnels: ["cores", "key-opener", "verify", "transport", "protocols", "net", "contract"],
    web: ["text-judge", "transport", "protocols", "net", "contract"],
    verify: ["cores", "transport", "protocols", "net", "contract"],
    "key-opener": ["bounded", "cores", "protocols"],
    // Expressions of users, in a process of their own.
    "text-judge": ["bounded"],
    bounded: ["cores"],
    cores: ["verify", "transport", "protocols", "net"],
    transport: ["protocols", "net", "contract"],
    // The list of probes and of parsers is here; the probes see only its types.
    contract: ["probes", "cores", "key-opener", "text-judge", "verify", "transport", "protocols", "net"],
    protocols: ["net", "contract"],
    // Caps and second looks: pure, for lists here and for schedules.
    limits: [],
    net: [],
  },
  // The way of a check goes up: plan, due, run, judge; the sink and the shards know none of these.
  scheduler: {
    role: ["judge", "run", "due", "plan", "remote", "sink", "shards"],
    judge: ["run", "due", "plan", "sink", "shards"],
    run: ["due", "plan"],
    due: ["plan"],
    plan: [],
    remote: [],
    sink: ["shards"],
    shards: [],
    alerts: [],
    webhooks: ["alerts"],
    subscriptions: [],
  },
  store: {
    // Whole data folders: what is in them is the other folders' business.
    backup: ["sealing", "sql"],
    move: ["sealing", "sql", "results", "state"],
    sealing: ["sql"],
    sql: [],
    // The newest results in memory, over the store of all.
    recent: ["results"],
    results: [],
    state: [],
  },
  "store/sql": {
    "control-plane": [
      "documents",
      "sink",
      "subscriptions",
      "webhooks",
      "alerts",
      "status-pages",
      "sealed",
      "jobs",
      "monitors",
      "incidents",
      "accounts",
      "coordination",
      "copy",
      "db",
      "schema",
    ],
    copy: ["db", "schema"],
    sink: ["jobs", "monitors", "incidents", "events", "coordination", "db", "schema"],
    // One apply writes things of every kind.
    documents: [
      "subscriptions",
      "alerts",
      "status-pages",
      "jobs",
      "monitors",
      "accounts",
      "incidents",
      "events",
      "coordination",
      "db",
      "schema",
    ],
    subscriptions: ["jobs", "monitors", "accounts", "events", "coordination", "db", "schema"],
    webhooks: ["alerts", "incidents", "events", "coordination", "db", "schema"],
    alerts: ["monitors", "incidents", "events", "coordination", "db", "schema"],
    "status-pages": ["incidents", "db", "schema"],
    jobs: ["incidents", "coordination", "db", "schema"],
    monitors: ["accounts", "incidents", "events", "coordination", "db", "schema"],
    incidents: ["events", "db", "schema"],
    accounts: ["db", "schema"],
    events: ["db", "schema"],
    coordination: ["db", "schema"],
    sealed: ["db", "schema"],
    db: ["schema"],
    schema: [],
  },
};

const floors = Object.entries(FLOORS).flatMap(([room, folders]) =>
  Object.entries({ ...folders, "[^/]+\\.ts$": [] }).map(([folder, others]) => ({
    name: folder.startsWith("[") ? `leaves-of-${room}` : `floor-${room}-${folder}`,
    comment: `${room}/${folder} may import of its room only itself${others.length > 0 ? ` and ${others.join(", ")}` : ""}, and files at the room's root`,
    severity: "error",
    from: { path: `^${room}/${folder.startsWith("[") ? folder : `${folder}/`}`, pathNot: TESTS },
    to: {
      path: `^${room}/`,
      pathNot: [`^${room}/[^/]+\\.ts$`, ...[...(folder.startsWith("[") ? [] : [folder]), ...others].map((to) => `^${room}/${to}/`)],
    },
  })),
);

const bareName = (name) => name.replace(/\(.*|\\/g, "");
const packageRule = (name) => `^node_modules/(@types/)?${name}/|^${name}(/|$)`;
const owners = Object.entries(OWNERS).map(([name, path]) => ({
  name: `only-there-${bareName(name)}`,
  comment: `${bareName(name)} is imported only by ${path}`,
  severity: "error",
  from: { pathNot: [path, TESTS, "^bench/", "^scripts/", "^docker/"] },
  to: { path: packageRule(name) },
}));

module.exports = {
  forbidden: [
    ...rooms,
    ...floors,
    ...owners,
    {
      name: "no-cycle",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "not-resolvable",
      comment: "fixtures use the built files, which a fresh clone does not have yet; newer Node has a package that older lacks; this package names itself",
      severity: "error",
      from: {},
      to: { couldNotResolve: true, pathNot: "(^|/)dist/|^better-sqlite3-napi$|^sonde/api$" },
    },
    {
      name: "checker-has-no-database",
      comment: "what a checker loads, through any number of files, opens no database: it has none, and its main thread would pay for it",
      severity: "error",
      from: { path: CHECKER, pathNot: TESTS },
      to: { path: DATABASE, pathNot: PORTS, reachable: true },
    },
    {
      name: "main-is-wiring",
      comment: "the wiring is imported by the roles' commands and by tests only",
      severity: "error",
      from: { pathNot: [WIRING, WIRING_COMMANDS, TESTS, "^bench/"] },
      to: { path: WIRING },
    },
    {
      name: "config-is-handed-in",
      comment: "settings are read once and handed in: only roles/, the command line, the demo and the bench see config.ts",
      severity: "error",
      from: { pathNot: [WIRING, "^cli/", "^demo/", "^bench/", TESTS] },
      to: { path: "^config\\.ts$" },
    },
    {
      name: "root-files",
      comment: "files at the root are leaves, but for config.ts, which borrows two types",
      severity: "error",
      from: { path: "^[^/]+\\.ts$", pathNot: ["^vitest\\.config\\.ts$", TESTS] },
      to: { dependencyTypes: ["local"], pathNot: ["^engine/contract/options\\.ts$", "^engine/cores/program\\.ts$", "^model/(nearest|oidc-settings|plan|smtp-url|text|url)\\.ts$"] },
    },
    {
      name: "probes-stand-alone",
      comment: "a probe imports no other probe; the list is made in probes/index.ts and read by the registry",
      severity: "error",
      from: { path: "^engine/probes/(?!index\\.ts$)", pathNot: TESTS },
      to: { path: "^engine/probes/", pathNot: ["^engine/probes/target-fields\\.ts$"] },
    },
    {
      name: "pure-imports-model",
      comment: "model/ imports no package and no Node module, but for the YAML of documents, which computes alone",
      severity: "error",
      from: { path: "^model/", pathNot: [TESTS, "^model/document/(yaml|write)\\.ts$"] },
      to: { dependencyTypesNot: ["local"] },
    },
    {
      name: "pure-imports-protocols",
      comment: "protocols/ are codecs: bytes in, bytes out; of Node only what computes",
      severity: "error",
      from: { path: "^engine/protocols/", pathNot: TESTS },
      to: {
        pathNot: [
          "^engine/protocols/",
          "^model/",
          "^engine/contract/tunnel\\.ts$",
          "^engine/net/",
          "^(node:)?(zlib|crypto|buffer|util|url|net)$",
          "^node_modules/(tweetnacl|@noble/(hashes|ciphers))/",
        ],
      },
    },
    {
      name: "processes-from-named-files",
      severity: "error",
      from: { pathNot: [SPAWNERS, TESTS, "^scripts/", "^docker/"] },
      to: { path: "^(node:)?(child_process|cluster)$" },
    },
    {
      name: "nothing-imports-tests",
      comment: "but for the settings of the tests, and the bench, which starts the same PostgreSQL and Redis, on ports that are found the same way",
      severity: "error",
      from: { pathNot: [TESTS, "^bench/(roles|links)/", "^vitest\\.config\\.ts$"] },
      to: { path: TESTS },
    },
    {
      name: "nothing-imports-bench",
      severity: "error",
      from: { pathNot: ["^bench/", TESTS] },
      to: { path: "^bench/" },
    },
    {
      name: "nothing-imports-the-page",
      comment: "it is built into files that the API hands out",
      severity: "error",
      from: { pathNot: ["^web/"] },
      to: { path: "^web/" },
    },
    {
      name: "test-libraries-in-tests",
      comment: "what only developers install is not imported by the product",
      severity: "error",
      // What the page imports is bundled into it.
      from: { pathNot: [TESTS, "^bench/", "^scripts/", "^web/", "^[^/]+\\.config\\.ts$"] },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
  ],
  options: {
    parser: "swc",
    doNotFollow: { path: "node_modules" },
    // Its parser knows no JSX: what the page may import is also in scripts/verify/page.mjs.
    exclude: { path: "^(dist|data|web/generate)/|^web/.*\\.tsx$" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      extensions: [".ts", ".tsx", ".d.ts", ".mjs", ".js", ".json"], conditionNames: ["import", "node", "default"] },
  },
};
