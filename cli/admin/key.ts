/** `sonde admin key`: keys of each kind (docs/api-contract.md#keys), their use, switching them off and on. */
import { hostname } from "node:os";
import { viewKey } from "../../api/key-view.ts";
import { MAX_KEY_NAME } from "../../model/key.ts";
import { formatIso, parseTime } from "../../model/time.ts";
import type { KeyRecord } from "../../store/sql/accounts/keys-port.ts";
import { CommandError } from "../command.ts";
import { plain } from "../table.ts";
import { type Act, type ActGroup, type ActOptions, type Done, idOf, known, listText } from "./act.ts";
import { issueKey } from "./key-issue.ts";
import { keyUsage } from "./key-usage.ts";
import type { AdminStores } from "./stores.ts";

const create: Act = {
  usage: "create",
  summary: "create a key for a person, shown once: of one workspace, or account-wide",
  options: [
    ["!--user <id>", "whose key; it acts as this person"],
    ["--workspace <id>", "reaches this workspace only"],
    ["--account", "reaches every workspace of the person, and never expires"],
    ["--name <name>", "at most 120 characters; without it computer and date"],
    ["--expires <time>", "date or date-time, UTC; without it never"],
    ["--dashboard", "with the prefix of the dashboard's keys"],
  ],
  example: "key create --user 7 --workspace 3 --name ci --expires 2027-12-31",
  async run(stores, options) {
    const userId = idOf("user", options.user, "--user");
    const user = known(await stores.controlPlane.accounts.user(userId), `user ${userId}`);
    const organizationId = await reachOf(stores, userId, options);
    const name = keyNameOf(options.name, stores.nowMs);
    const expiresAtMs = expiryOf(options, stores.nowMs);
    const prefix = options.dashboard === true ? ("dk" as const) : ("uk" as const);
    const { record, key } = await issueKey(stores, { name, userId, organizationId, expiresAtMs, prefix });
    const reach = organizationId === null ? "account-wide" : `of workspace ${organizationId}`;
    return {
      facts: { id: record.id, key, user_id: userId, organization_id: organizationId },
      text: `key ${record.id} (${plain(name)}), ${reach}, of user ${userId} (${plain(user.email)})\nshown once: ${key}`,
    };
  },
};

/** @returns null for an account-wide key */
async function reachOf(
  { controlPlane, config }: AdminStores,
  userId: number,
  options: ActOptions,
): Promise<number | null> {
  const isAccount = options.account === true;
  if (isAccount === (options.workspace !== undefined)) throw new CommandError("give either --workspace or --account");
  const memberships = await controlPlane.accounts.memberships(userId);
  if (!isAccount) {
    const id = idOf("organization", options.workspace, "--workspace");
    known(await controlPlane.accounts.workspace(id), `workspace ${id}`);
    known(
      memberships.find(({ workspace }) => workspace.id === id),
      `user ${userId} in workspace ${id}`,
    );
    return id;
  }
  if (options.expires !== undefined) throw new CommandError("an account-wide key never expires: leave --expires out");
  if (options.dashboard === true)
    throw new CommandError("the dashboard makes no account-wide keys: leave --dashboard out");
  if (!memberships.some(({ workspace }) => config.plans[workspace.plan].apiAccess)) {
    throw new CommandError(`user ${userId} belongs to no workspace on a paid plan: sonde admin plan set`);
  }
  return null;
}

/** Account-wide keys are named after the computer and the date (docs/api-contract.md#keys); others too when they get no name. */
function keyNameOf(text: unknown, nowMs: number): string {
  const name = text === undefined ? `${hostname()} ${formatIso(nowMs).slice(0, 10)}` : String(text).trim();
  if (name === "" || [...name].length > MAX_KEY_NAME) {
    throw new CommandError(`--name must have 1 to ${MAX_KEY_NAME} characters`);
  }
  return name;
}

function expiryOf(options: ActOptions, nowMs: number): number | null {
  if (options.expires === undefined) return null;
  const atMs = parseTime(String(options.expires).trim());
  if (atMs === undefined) throw new CommandError("--expires must be a date, such as 2026-12-31");
  if (atMs <= nowMs) throw new CommandError("--expires must be in the future");
  return atMs;
}

const KEY_COLUMNS = [
  "id",
  { head: "name", least: 12 },
  { head: "user", dropped: 3 },
  { head: "workspace", dropped: 4 },
  "status",
  { head: "created", dropped: 1 },
  { head: "expires", dropped: 2 },
  { head: "last used", dropped: 5 },
];
const USAGE_COLUMNS = [
  "id",
  { head: "name", least: 12 },
  "today",
  "7 days",
  "30 days",
  { head: "endpoint", least: 20 },
];

const list: Act = {
  usage: "list",
  summary: "the keys of a workspace, or all of a person, account-wide ones too; newest first",
  options: [
    ["--workspace <id>", "which workspace"],
    ["--user <id>", "which person"],
  ],
  example: "key list --workspace 3",
  async run(stores, options) {
    const keys = (await keysOf(stores, options)).map((key) => viewKey(key, stores.nowMs));
    const rows = keys.map((key) => [
      key.id,
      key.name,
      key.userID,
      key.organizationId,
      key.status,
      key.createdDate,
      key.expires,
      key.lastUsedAt,
    ]);
    return {
      facts: { keys, total: keys.length },
      text: listText("keys", KEY_COLUMNS, rows),
    };
  },
};

async function keysOf({ controlPlane }: AdminStores, options: ActOptions): Promise<readonly KeyRecord[]> {
  if ((options.workspace === undefined) === (options.user === undefined)) {
    throw new CommandError("give either --workspace or --user");
  }
  if (options.user !== undefined) {
    const userId = idOf("user", options.user, "--user");
    known(await controlPlane.accounts.user(userId), `user ${userId}`);
    return controlPlane.keys.ofPerson(userId, []);
  }
  const id = idOf("organization", options.workspace, "--workspace");
  known(await controlPlane.accounts.workspace(id), `workspace ${id}`);
  return controlPlane.keys.ofWorkspace(id, null);
}

const usage: Act = {
  usage: "usage",
  summary: "requests of each key today, in 7 and in 30 days, and by endpoint",
  options: [["!--workspace <id>", "which workspace"]],
  example: "key usage --workspace 3 --json",
  async run(stores, options) {
    const id = idOf("organization", options.workspace, "--workspace");
    known(await stores.controlPlane.accounts.workspace(id), `workspace ${id}`);
    const keys = await keyUsage(stores, id);
    const rows = keys.flatMap((key) => [
      [key.id, key.name, key.requests_today, key.requests_7_days, key.requests_30_days, ""],
      ...key.endpoints.map((one) => ["", "", "", "", one.requests, `${one.method} ${one.path}`]),
    ]);
    return {
      facts: { organization_id: id, keys, total: keys.length },
      text: listText("keys", USAGE_COLUMNS, rows),
    };
  },
};

const enable: Act = {
  usage: "enable <key>",
  summary: "switch a key on again",
  example: "key enable 31",
  run: (stores, _words, [text]) => setActive(stores, text, true),
};

const disable: Act = {
  usage: "disable <key>",
  summary: "switch a key off: it stops at once",
  example: "key disable 31",
  run: (stores, _words, [text]) => setActive(stores, text, false),
};

async function setActive({ controlPlane, nowMs }: AdminStores, text: unknown, active: boolean): Promise<Done> {
  const id = idOf("key", text, "the key");
  const key = known(await controlPlane.keys.setActive(id, active), `key ${id}`);
  const { status } = viewKey(key, nowMs);
  return { facts: { id, active, status }, text: `key ${id} is ${status}` };
}

export const key: ActGroup = {
  name: "key",
  summary: "create keys, list them and their use, switch them off and on",
  acts: [create, list, usage, enable, disable],
};
