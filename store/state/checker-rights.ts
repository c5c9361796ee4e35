/**
 * What a checker may do in Redis, as its user's rule (https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/): each
 * command on the names that it is for, and no other. The names are few and written out, so a holder of the password cannot make new ones.
 * No rule bounds how much is put into one, so schedulers sweep them (redis-runs.ts). docs/operate/security-redis.md says what a stolen
 * password still allows.
 */
import { createHash } from "node:crypto";
import { CHECK_CLASSES } from "./checks.ts";
import { PREFIX } from "./redis-prefix.ts";
import { checkersKey, checksKey } from "./redis-run-keys.ts";

/** Commands without a key: those of redis-run-server.ts and redis-checks.ts, and those that the client sends when it connects. */
const KEYLESS = ["publish", "time", "multi", "exec", "ping", "client|setname"] as const;
/** Its stream of runs: what it is sent, and its sign of life. Only schedulers add runs. */
const OF_RUNS = ["xread", "xrange", "xdel", "del", "pexpire", "xgroup|create", "xgroup|createconsumer"] as const;
const OF_OUTCOMES = ["xadd", "pexpire"] as const;
const OF_CHECKS = ["xread", "xdel"] as const;
const OF_REPORTS = ["hset"] as const;

export const CHECKER_COMMANDS: readonly string[] = [
  ...new Set([...KEYLESS, ...OF_RUNS, ...OF_OUTCOMES, ...OF_CHECKS, ...OF_REPORTS]),
];

export function checkerUser(location: string): string {
  return `sonde-${location}`;
}

/** For `ACL SETUSER`: replaces whatever the user had. The password itself is not in it. */
export function checkerRule(location: string, password: string): string {
  const hash = createHash("sha256").update(password).digest("hex");
  return ["ACL SETUSER", checkerUser(location), "reset", "on", `#${hash}`, ...grants(location)].join(" ");
}

/** For `ACL SETUSER`: what the user may do, anew; its password stays. */
export function checkerGrants(location: string): string {
  const forget = ["resetkeys", "resetchannels", "-@all", "clearselectors"];
  return ["ACL SETUSER", checkerUser(location), ...forget, ...grants(location)].join(" ");
}

function grants(location: string): readonly string[] {
  return [
    `&${PREFIX}check-answers:*`,
    ...KEYLESS.map((command) => `+${command}`),
    // Classes of characters, as many names as there are: redis-run-keys.ts.
    selector(OF_RUNS, [`${PREFIX}runs:{${location}}:[0-3][0-9a-f]`]),
    selector(OF_OUTCOMES, [`${PREFIX}outcomes:{${location}}:[0-9a-f]`]),
    selector(
      OF_CHECKS,
      CHECK_CLASSES.map((checkClass) => checksKey(location, checkClass)),
    ),
    selector(OF_REPORTS, [checkersKey(location)]),
  ];
}

function selector(commands: readonly string[], keys: readonly string[]): string {
  return `(${[...commands.map((command) => `+${command}`), ...keys.map((key) => `~${key}`)].join(" ")})`;
}
