/** `sonde admin location`: where checkers of their own stand, the key that is sealed to them, and their user in Redis. */
import { randomBytes } from "node:crypto";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import { newKeyLine } from "../../store/sealing/keys.ts";
import { checkerGrants, checkerRule, checkerUser } from "../../store/state/checker-rights.ts";
import { CommandError } from "../command.ts";
import { type Act, type ActGroup, type Done, known } from "./act.ts";
import type { AdminStores } from "./stores.ts";

/** 192 bits, without a sign that a URL would escape. */
const PASSWORD_BYTES = 24;

const add: Act = {
  usage: "add <code>",
  summary: "create a location with its key and Redis user; prints what its checkers need, once",
  example: "location add de",
  async run({ controlPlane, nowMs, config, sealing }, _words, [text]) {
    const code = codeOf(text);
    requireFirstDatabase(config.redisUrl);
    const key = newKeyLine();
    const sealed = (await sealing()).seal(SEALED_CELLS.location(code), key);
    if (!(await controlPlane.locations.add(code, sealed, nowMs))) {
      throw new CommandError(`location ${code} is there already: location rotate ${code} makes another key`);
    }
    return bundle(code, [key], config.redisUrl, `location ${code} is made`);
  },
};

const list: Act = {
  usage: "list",
  summary: "locations, and whether a change of key is under way",
  example: "location list",
  async run({ controlPlane }) {
    const all = await controlPlane.locations.all();
    const locations = all.map(({ code, nextSealedKey, createdAtMs }) => ({
      code,
      rotating: nextSealedKey !== null,
      created_at: new Date(createdAtMs).toISOString(),
    }));
    const lines = locations.map(({ code, rotating }) => `${code}${rotating ? "  (its key is being changed)" : ""}`);
    return { facts: { locations }, text: lines.length === 0 ? "there are no locations" : lines.join("\n") };
  },
};

const rotate: Act = {
  usage: "rotate <code>",
  summary:
    "change a location's key and the password of its Redis user, in two steps: rotate, put the file in place, --finish",
  options: [["--finish", "the checkers have the new file: seal with the new key, and forget the one before"]],
  example: "location rotate de",
  async run({ controlPlane, config, sealing }, options, [text]) {
    const code = codeOf(text);
    const { locations } = controlPlane;
    const found = known(await locations.find(code), `location ${code}`);
    if (options.finish === true) {
      if (!(await locations.promoteKey(code))) throw new CommandError(`no change of the key of ${code} is under way`);
      return { facts: { code }, text: `location ${code}: the new key seals, the one before opens nothing any more` };
    }
    const key = newKeyLine();
    const opened = await sealing();
    if (!(await locations.addKey(code, opened.seal(SEALED_CELLS.location(code), key)))) {
      throw new CommandError(
        `the key of ${code} is being changed already: finish with location rotate ${code} --finish`,
      );
    }
    const before = opened.open(SEALED_CELLS.location(code), found.sealedKey);
    const next = `then location rotate ${code} --finish`;
    return bundle(code, [key, before], config.redisUrl, `location ${code} has a second key; ${next}`);
  },
};

const grants: Act = {
  usage: "grants <code>",
  summary: "update the rights of the location's Redis user to this version; its password stays",
  example: "location grants de",
  async run({ controlPlane }, _words, [text]) {
    const code = codeOf(text);
    known(await controlPlane.locations.find(code), `location ${code}`);
    const acl = checkerGrants(code);
    const user = checkerUser(code);
    return { facts: { code, redis_user: user, acl }, text: `In Redis, as its administrator:\n   ${acl}` };
  },
};

const remove: Act = {
  usage: "rm <code>",
  formerly: "remove",
  summary: "remove a location: its checkers get no more checks; monitors show it as unavailable",
  example: "location rm de",
  async run({ controlPlane }, _words, [text]) {
    const code = codeOf(text);
    known(await controlPlane.locations.remove(code), `location ${code}`);
    const user = checkerUser(code);
    return {
      facts: { code, redis_user: user },
      text: `location ${code} is removed; its Redis user goes with: ACL DELUSER ${user}`,
    };
  },
};

function codeOf(text: unknown): string {
  if (typeof text !== "string" || !/^(any|[a-z]{2})$/.test(text)) {
    throw new CommandError("a location is any or a lowercase country, such as de");
  }
  return text;
}

/** Everything that a checker needs; none of it can be shown again. */
function bundle(code: string, keys: readonly string[], redisUrl: string | null, done: string): Done {
  const password = randomBytes(PASSWORD_BYTES).toString("base64url");
  const acl = checkerRule(code, password);
  const user = checkerUser(code);
  const keyFile = `# Sonde: key of the location ${code}; the first one seals\n${keys.join("\n")}\n`;
  const url = urlFor(redisUrl, user, password);
  const text = [
    `${done}. This is shown once:`,
    "",
    `1. In Redis, as its administrator (and in its ACL file, or the user is gone after a restart):\n   ${acl}`,
    "",
    `2. For the checkers, as location-${code}.key in their SONDE_DATA_DIR, readable by them alone:`,
    ...keyFile
      .trimEnd()
      .split("\n")
      .map((line) => `   ${line}`),
    "",
    `3. SONDE_REDIS_URL=${url} sonde checker --location ${code}`,
  ];
  return {
    facts: { code, key_file: keyFile, redis_user: user, redis_password: password, redis_url: url, acl },
    text: text.join("\n"),
  };
}

/** No rule keeps a user out of a database once it may choose one, and schedulers sweep their own only. */
function requireFirstDatabase(redisUrl: AdminStores["config"]["redisUrl"]): void {
  if (redisUrl === null || /^\/?0?$/.test(new URL(redisUrl).pathname)) return;
  throw new CommandError("checkers of their own need Redis' database 0, and SONDE_REDIS_URL names another");
}

/** Our own Redis, as the checker's user. */
function urlFor(redisUrl: AdminStores["config"]["redisUrl"], user: string, password: string): string {
  const url = new URL(redisUrl ?? "redis://redis.example");
  url.username = user;
  url.password = password;
  return url.href;
}

export const location: ActGroup = {
  name: "location",
  summary: "locations of separate checkers, with their keys and Redis users",
  acts: [add, list, rotate, grants, remove],
};
