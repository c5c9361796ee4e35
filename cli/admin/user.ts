/** `sonde admin user`: switch a person off and on, in every workspace at once. */
import { formatIso } from "../../model/time.ts";
import { hostInUrl, signInLink } from "../../model/url.ts";
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

const link: Act = {
  usage: "link <user>",
  summary: "a link that signs a person in to the page: it works once, for ten minutes",
  example: "user link 7",
  async run({ controlPlane, config, nowMs }, _, [text]) {
    const id = idOf("user", text, "the user");
    known(await controlPlane.accounts.user(id), `user ${id}`);
    const { CODE_LIVES_MS, newSecret } = await import("../../store/session-secret.ts");
    const { text: code, hash } = newSecret();
    const expiresAtMs = nowMs + CODE_LIVES_MS;
    await controlPlane.sessions.addCode({ codeHash: hash, userId: id, nowMs, expiresAtMs });
    const address = signInLink(config.baseUrl ?? `http://${hostInUrl(config.host)}:${config.port}`, code);
    const facts = { user_id: id, link: address, expires_at: formatIso(expiresAtMs) };
    return { facts, text: `${address}\nit works once, for ten minutes` };
  },
};

export const user: ActGroup = {
  name: "user",
  summary: "switch people off and on, and sign them in",
  acts: [set, link],
};
