/** `sonde admin member`: the members of a workspace, and in which role. */
import { ROLES } from "../../model/plan.ts";
import { plain } from "../table.ts";
import { type Act, type ActGroup, emailOf, idOf, known, listText, nameOf, oneOf } from "./act.ts";
import { issueKey } from "./key-issue.ts";

const add: Act = {
  usage: "add",
  summary: "add a person to a workspace, or change the role of one who is there; gives a key, which is shown once",
  options: [
    ["!--workspace <id>", "which workspace"],
    ["!--email <address>", "of the person, who is made when there is none"],
    ["--name <name>", "of a person who is made"],
    ["!--role <role>", ROLES.join(", ")],
  ],
  example: "member add --workspace 3 --email ada@example.org --name 'Ada Byron' --role manager --json",
  async run(stores, options) {
    const { controlPlane, nowMs } = stores;
    const organizationId = idOf("organization", options.workspace, "--workspace");
    const email = emailOf(options.email, "--email");
    const name = options.name === undefined ? null : nameOf(options.name, "--name");
    const role = oneOf(ROLES, options.role, "--role");
    const added = await controlPlane.accounts.addMember(organizationId, { email, name }, role, nowMs);
    const { userId, roleBefore } = known(added, `workspace ${organizationId}`);
    const { key } = await issueKey(stores, { name: "First key", userId, organizationId, expiresAtMs: null });
    const was = roleBefore === null ? "" : ` (was ${roleBefore})`;
    return {
      facts: { user_id: userId, organization_id: organizationId, role, key },
      text: `user ${userId} (${plain(email)}) is ${role} of workspace ${organizationId}${was}\nkey, shown once: ${key}`,
    };
  },
};

const remove: Act = {
  usage: "rm",
  formerly: "remove",
  summary: "take a person out of a workspace: the person's keys of it stop at once",
  options: [
    ["!--workspace <id>", "which workspace"],
    ["!--user <id>", "which person"],
  ],
  example: "member rm --workspace 3 --user 7",
  async run({ controlPlane }, options) {
    const organizationId = idOf("organization", options.workspace, "--workspace");
    const userId = idOf("user", options.user, "--user");
    const isRemoved = await controlPlane.accounts.removeMember(organizationId, userId);
    known(isRemoved, `user ${userId} in workspace ${organizationId}`);
    return {
      facts: { organization_id: organizationId, user_id: userId, removed: true },
      text: `user ${userId} is no longer in workspace ${organizationId}`,
    };
  },
};

const list: Act = {
  usage: "list",
  summary: "the people of a workspace, oldest membership first",
  options: [["!--workspace <id>", "which workspace"]],
  example: "member list --workspace 3",
  async run({ controlPlane }, options) {
    const organizationId = idOf("organization", options.workspace, "--workspace");
    known(await controlPlane.accounts.workspace(organizationId), `workspace ${organizationId}`);
    const members = (await controlPlane.accounts.membersOf(organizationId)).map(({ user, role }) => ({
      user_id: user.id,
      email: user.email,
      name: user.name,
      role,
      active: user.active,
    }));
    const rows = members.map((one) => [one.user_id, one.email, one.name, one.role, one.active ? "yes" : "no"]);
    return {
      facts: { members, total: members.length },
      text: listText(
        "members",
        ["user", { head: "e-mail", least: 20 }, { head: "name", least: 12 }, "role", "active"],
        rows,
      ),
    };
  },
};

export const member: ActGroup = { name: "member", summary: "who belongs to a workspace", acts: [add, remove, list] };
