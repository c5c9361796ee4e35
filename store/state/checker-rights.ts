/**
 * What a checker may do in Redis, as its user's rule (https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/): the keys
 * of its location, and no command that reads others, counts, leases or lists.
 */
import { createHash } from "node:crypto";
import { PREFIX } from "./redis.ts";

/** Those of redis-run-server.ts and redis-checks.ts, and what the client says when it connects. */
export const CHECKER_COMMANDS = [
  "xadd",
  "xread",
  "xrange",
  "xdel",
  "xreadgroup",
  "xgroup|create",
  "del",
  "hset",
  "pexpire",
  "publish",
  "time",
  "multi",
  "exec",
  "ping",
  "info",
  "select",
  "client|setname",
] as const;

export function checkerUser(location: string): string {
  return `sonde-${location}`;
}

/** For `ACL SETUSER`: replaces whatever the user had. The password itself is not in it. */
export function checkerRule(location: string, password: string): string {
  const hash = createHash("sha256").update(password).digest("hex");
  const keys = ["runs", "outcomes", "checks"].map((what) => `~${PREFIX}${what}:{${location}}:*`);
  return [
    "ACL SETUSER",
    checkerUser(location),
    "reset",
    "on",
    `#${hash}`,
    ...keys,
    `~${PREFIX}checkers:{${location}}`,
    `&${PREFIX}check-answers:*`,
    ...CHECKER_COMMANDS.map((command) => `+${command}`),
  ].join(" ");
}
