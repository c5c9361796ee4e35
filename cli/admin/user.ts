/** `sonde admin user`: switch a person off and on, in every workspace at once. */
import { type Act, type ActGroup, flagOf, idOf, known } from "./act.ts";

const set: Act = {
  usage: "set <user>",
  summary: "switch a person off or on: the keys of an inactive one answer 401",
  options: [["!--active <flag>", "true or false"]],
  example: "user set 7 --active false",
  async run({ controlPlane }, options, [text]) {
    const id = idOf("user", text, "the user");
    const active = flagOf(options.active, "--active");
    known(await controlPlane.accounts.setUserActive(id, active), `user ${id}`);
    return { facts: { user_id: id, active }, text: `user ${id} is ${active ? "active" : "inactive"}` };
  },
};

export const user: ActGroup = { name: "user", summary: "switch people off and on", acts: [set] };
