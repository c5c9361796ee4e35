/** `sonde admin project`: further projects of a workspace, and switching them off and on. */
import { formatId } from "../../model/ids.ts";
import { plain } from "../table.ts";
import { type Act, type ActGroup, flagOf, idOf, known, nameOf } from "./act.ts";

const create: Act = {
  usage: "create",
  summary: "make another project in a workspace",
  options: [
    ["!--workspace <id>", "which workspace"],
    ["!--name <name>", "of the project"],
  ],
  example: "project create --workspace 3 --name Staging",
  async run({ controlPlane, nowMs }, words) {
    const workspaceId = idOf("organization", words.workspace, "--workspace");
    const name = nameOf(words.name, "--name");
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
  async run({ controlPlane }, words, [text]) {
    const id = idOf("project", text, "the project");
    const active = flagOf(words.active, "--active");
    const name = formatId("project", id);
    known(await controlPlane.accounts.setProjectActive(id, active), `project ${name}`);
    return { facts: { project_id: name, active }, text: `project ${name} is ${active ? "active" : "inactive"}` };
  },
};

export const project: ActGroup = {
  name: "project",
  summary: "make projects, switch them off and on",
  acts: [create, set],
};
