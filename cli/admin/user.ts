/** `sonde admin user`: people in every workspace at once: off and on, and how they sign in. */
import { formatIso, isoOrNull } from "../../model/time.ts";
import { hostInUrl, signInLink } from "../../model/url.ts";
import { CommandError } from "../command.ts";
import { plain } from "../table.ts";
import { type Act, type ActGroup, flagOf, idOf, known, listText } from "./act.ts";

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
  summary: "make a link that signs a person in to the page: it works once, for ten minutes",
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

const WAY_COLUMNS = [
  "way",
  { head: "provider or id", least: 16 },
  { head: "name", least: 12 },
  { head: "since", dropped: 1 },
];

const ways: Act = {
  usage: "ways <user>",
  summary: "list what a person signs in with: accounts at providers, and passkeys",
  example: "user ways 7",
  async run({ controlPlane }, _, [text]) {
    const id = idOf("user", text, "the user");
    known(await controlPlane.accounts.user(id), `user ${id}`);
    const accounts = (await controlPlane.identities.ofUser(id)).map(({ provider, email, linkedAtMs }) => ({
      provider,
      email,
      linked_at: formatIso(linkedAtMs),
    }));
    const passkeys = (await controlPlane.passkeys.ofUser(id)).map(({ id: passkey, name, createdAtMs, usedAtMs }) => ({
      id: passkey,
      name,
      created_at: formatIso(createdAtMs),
      used_at: isoOrNull(usedAtMs),
    }));
    const rows = [
      ...accounts.map(({ provider, email, linked_at: since }) => ["account", provider, plain(email), since]),
      ...passkeys.map(({ id: passkey, name, created_at: since }) => ["passkey", String(passkey), plain(name), since]),
    ];
    return {
      facts: { user_id: id, accounts, passkeys },
      text: listText("ways to sign in", WAY_COLUMNS, rows),
    };
  },
};

const unlink: Act = {
  usage: "unlink <user>",
  summary: "remove a person's ways to sign in, and end the sessions begun with them; without an option all of them",
  options: [
    ["--provider <issuer>", "only the account at this provider, as `user ways` names it"],
    ["--passkey <id>", "only this passkey, as `user ways` numbers it"],
  ],
  example: "user unlink 7 --passkey 3",
  async run({ controlPlane }, { provider, passkey }, [text]) {
    const id = idOf("user", text, "the user");
    known(await controlPlane.accounts.user(id), `user ${id}`);
    if (provider !== undefined && passkey !== undefined)
      throw new CommandError("--provider and --passkey are two acts: give one of them, or none for all");
    const forgot = await controlPlane.identities.forget(
      id,
      passkey !== undefined
        ? { kind: "passkey", id: idOf("passkey", passkey, "--passkey") }
        : provider !== undefined
          ? { kind: "provider", issuer: String(provider) }
          : { kind: "all" },
    );
    const isFound = forgot.accounts + forgot.passkeys > 0;
    if (provider !== undefined) known(isFound, `account of user ${id} at ${plain(String(provider))}`);
    if (passkey !== undefined) known(isFound, `passkey ${plain(String(passkey))} of user ${id}`);
    return {
      facts: { user_id: id, ...forgot },
      text: `user ${id}: ${forgot.accounts} accounts and ${forgot.passkeys} passkeys are forgotten, ${forgot.sessions} sessions ended`,
    };
  },
};

export const user: ActGroup = {
  name: "user",
  summary: "switch people off and on, make sign-in links, and remove their ways to sign in",
  acts: [set, link, ways, unlink],
};
