/** `sonde admin workspace`: make one with its owner, project and key; suspend and restore. */
import { formatId } from "../../model/ids.ts";
import { PLAN_NAMES } from "../../model/plan.ts";
import { formatIso } from "../../model/time.ts";
import type { Person } from "../../store/sql/accounts/port.ts";
import { plain } from "../table.ts";
import { type Act, type ActGroup, type Done, emailOf, idOf, known, listText, nameOf, oneOf } from "./act.ts";
import { effectFacts, effectWords } from "./effects.ts";
import { issueKey } from "./key-issue.ts";
import type { AdminStores } from "./stores.ts";

const create: Act = {
  usage: "create",
  summary: "create a workspace with its first project, its owner and a key, which is shown once",
  options: [
    ["!--name <name>", "of the workspace"],
    ["!--plan <plan>", PLAN_NAMES.join(", ")],
    ["--owner <user>", "id of a user, or an e-mail address; without it a new person owns it"],
    ["--project <name>", "of its first project (Project)"],
  ],
  example: "workspace create --name Acme --plan pro --owner ada@example.org --json",
  async run(stores, options) {
    const { controlPlane, nowMs } = stores;
    const name = nameOf(options.name, "--name");
    const plan = oneOf(PLAN_NAMES, options.plan, "--plan");
    const projectName = options.project === undefined ? "Project" : nameOf(options.project, "--project");
    const owner = await ownerOf(stores, options.owner, name);
    const made = await controlPlane.accounts.createWorkspace({ name, plan, projectName, owner, nowMs });
    const { organizationId, projectId, userId } = known(made, `user ${String(options.owner)}`);
    const { key } = await issueKey(stores, { name: "First key", userId, organizationId, expiresAtMs: null });
    return {
      facts: { organization_id: organizationId, project_id: formatId("project", projectId), user_id: userId, key },
      text: `workspace ${organizationId} (${plain(name)}, ${plan}), project prj_${projectId}, owner user ${userId}\nkey, shown once: ${key}`,
    };
  },
};

/** An owner who is not named gets an address that no mail ever reaches (RFC 2606 section 2: `.invalid`). */
async function ownerOf({ controlPlane, nowMs }: AdminStores, owner: unknown, name: string): Promise<number | Person> {
  if (owner === undefined)
    return { email: `owner-${nowMs}-${process.pid}@workspace.invalid`, name: `Owner of ${name}` };
  if (String(owner).includes("@")) return { email: emailOf(owner, "--owner"), name: null };
  const id = idOf("user", owner, "--owner");
  return known(await controlPlane.accounts.user(id), `user ${id}`).id;
}

const suspend: Act = {
  usage: "suspend <workspace>",
  summary: "allow no monitors: every one is paused until the workspace is restored",
  example: "workspace suspend 3",
  run: (stores, _words, [text]) => setSuspended(stores, text, true),
};

const restore: Act = {
  usage: "restore <workspace>",
  summary: "end a suspension: monitors that it paused go on, tunnels as far as there are slots",
  example: "workspace restore 3",
  run: (stores, _words, [text]) => setSuspended(stores, text, false),
};

async function setSuspended(stores: AdminStores, text: unknown, suspended: boolean): Promise<Done> {
  const { controlPlane, config, nowMs } = stores;
  const id = idOf("organization", text, "the workspace");
  const effects = await controlPlane.plans.setSuspended(id, suspended, config.plans, nowMs);
  return {
    facts: { organization_id: id, suspended, ...effectFacts(known(effects, `workspace ${id}`)) },
    text: `workspace ${id} is ${suspended ? "suspended" : "no longer suspended"}${effectWords(effects)}`,
  };
}

const list: Act = {
  usage: "list",
  summary: "all workspaces, oldest first",
  example: "workspace list",
  async run({ controlPlane }) {
    const workspaces = (await controlPlane.accounts.workspaces()).map((one) => ({
      id: one.id,
      name: one.name,
      plan: one.plan,
      suspended: one.suspended,
      created_at: formatIso(one.createdAtMs),
    }));
    const rows = workspaces.map((one) => [one.id, one.name, one.plan, one.suspended ? "yes" : "no", one.created_at]);
    return {
      facts: { workspaces, total: workspaces.length },
      text: listText(
        "workspaces",
        ["id", { head: "name", least: 12 }, "plan", "suspended", { head: "created", dropped: 1 }],
        rows,
      ),
    };
  },
};

export const workspace: ActGroup = {
  name: "workspace",
  summary: "create, list, suspend and restore workspaces",
  acts: [create, list, suspend, restore],
};
