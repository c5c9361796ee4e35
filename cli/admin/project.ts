/** `sonde admin project`: further projects of a workspace, and switching them off and on. */
import { formatId } from "../../model/ids.ts";
import { formatIso } from "../../model/time.ts";
import { plain } from "../table.ts";
import { type Act, type ActGroup, flagOf, idOf, known, listText, nameOf } from "./act.ts";

const create: Act = {
  usage: "create",
  summary: "create another project in a workspace",
  options: [
    ["!--workspace <id>", "which workspace"],
    ["!--name <name>", "of the project"],
  ],
  example: "project create --workspace 3 --name Staging",
  async run({ controlPlane, nowMs }, options) {
    const workspaceId = idOf("organization", options.workspace, "--workspace");
    const name = nameOf(options.name, "--name");
    const made = await controlPlane.accounts.createProject(workspaceId, name, nowMs);
    const id = formatId("project", known(made, `workspace ${workspaceId}`).id);
    return { facts: { project_id: id, organization_id: workspaceId }, text: `project ${id} (${plain(name)})` };
  },
};

const set: Act = {
  usage: "set <project>",
  summary: "switch a project off or on: an inactive one answers 404 and its monitors are not checked",
  options: [["!--active <flag>", "true or false"]],
  example: "project set prj_4 --active false",
  async run({ controlPlane }, options, [text]) {
    const id = idOf("project", text, "the project");
    const active = flagOf(options.active, "--active");
    const name = formatId("project", id);
    known(await controlPlane.accounts.setProjectActive(id, active), `project ${name}`);
    return { facts: { project_id: name, active }, text: `project ${name} is ${active ? "active" : "inactive"}` };
  },
};

const list: Act = {
  usage: "list",
  summary: "the projects of a workspace, inactive ones too",
  options: [["!--workspace <id>", "which workspace"]],
  example: "project list --workspace 3",
  async run({ controlPlane }, options) {
    const workspaceId = idOf("organization", options.workspace, "--workspace");
    known(await controlPlane.accounts.workspace(workspaceId), `workspace ${workspaceId}`);
    const projects = (await controlPlane.accounts.everyProjectOf(workspaceId)).map(
      ({ id, name, active, createdAtMs }) => ({
        id: formatId("project", id),
        name,
        active,
        created_at: formatIso(createdAtMs),
      }),
    );
    const rows = projects.map((one) => [one.id, one.name, one.active ? "yes" : "no", one.created_at]);
    return {
      facts: { projects, total: projects.length },
      text: listText("projects", ["id", { head: "name", least: 12 }, "active", { head: "created", dropped: 1 }], rows),
    };
  },
};

export const project: ActGroup = {
  name: "project",
  summary: "create and list projects, switch them off and on",
  acts: [create, list, set],
};
