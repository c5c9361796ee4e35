// Which packages are part of the bundles of programs and threads.

/**
 * Packages of many modules, with what they need, and what must share one copy with them. Others stay outside: they are few files, native, find files
 * beside themselves, or start threads of their own.
 */
const BUNDLED_PACKAGES = [
  ["kysely", "zod", "zod-openapi"],
  ["undici", "tldts", "tldts-core"],
  ["@clickhouse/client", "@clickhouse/client-common"],
  ["prom-client", "@opentelemetry/api", "tdigest", "bintrees"],
  [
    "ioredis",
    "@ioredis/commands",
    "cluster-key-slot",
    "denque",
    "redis-errors",
    "redis-parser",
    "standard-as-callback",
  ],
  [
    "pino",
    "pino-std-serializers",
    "sonic-boom",
    "safe-stable-stringify",
    "quick-format-unescaped",
    "on-exit-leak-free",
  ],
  ["liquidjs", "badge-maker", "anafanafo", "feed", "xml-js", "croner", "commander"],
].flat();
const MICROMARK = /^micromark(?:-[a-z-]+)?$/;

const packageOf = (id) => id.split("/", id.startsWith("@") ? 2 : 1).join("/");
/** @param id what an import names, such as undici or kysely/helpers */
export const isBundled = (id) => BUNDLED_PACKAGES.includes(packageOf(id)) || MICROMARK.test(packageOf(id));
