/** Whose account of the provider it is: a person who is here already, or one whom the operator lets in by the address. */
import type { AutoMember } from "../../model/oidc-settings.ts";
import type { UserRecord } from "../../store/sql/accounts/port.ts";
import type { Api } from "../api.ts";
import type { Account } from "./claims.ts";

/** Why an account signs no one in; the page has words for each. */
export type NotSignedIn = "email" | "unknown" | "other" | "inactive" | "none" | "full";

export class AccountRefused extends Error {
  override readonly name = "AccountRefused";
  readonly word: NotSignedIn;

  constructor(word: NotSignedIn) {
    super(word);
    this.word = word;
  }
}

export interface Found {
  readonly user: UserRecord;
  /** The role that the person got just now; null: the person was here before. */
  readonly joinedAs: AutoMember["role"] | null;
}

/** @throws AccountRefused */
export async function personOf(
  api: Pick<Api, "controlPlane" | "state">,
  account: Account,
  rules: readonly AutoMember[],
  nowMs: number,
): Promise<Found> {
  const { identities, accounts } = api.controlPlane;
  const linked = await identities.user(account.provider, account.subject);
  if (linked !== undefined) return { user: await usable(api, linked), joinedAs: null };
  const { email } = account;
  if (email === null) throw new AccountRefused("email");
  const known = await accounts.userByEmail(email);
  const found =
    known === undefined
      ? await newMember(api, { email, name: account.name }, rules, nowMs)
      : { user: await usable(api, known), joinedAs: null };
  const { provider, subject } = account;
  // An address that the provider gave to another account since signs that account not in as the person who had it.
  if (!(await identities.link({ provider, subject, userId: found.user.id, email, nowMs })))
    throw new AccountRefused("other");
  return found;
}

/** @throws AccountRefused for a person who was switched off, or was removed from every workspace */
async function usable({ controlPlane }: Pick<Api, "controlPlane">, user: UserRecord): Promise<UserRecord> {
  if (!user.active) throw new AccountRefused("inactive");
  if ((await controlPlane.accounts.memberships(user.id)).length === 0) throw new AccountRefused("none");
  return user;
}

/** Of the service's first workspace, which is the operator's. @throws AccountRefused */
async function newMember(
  { controlPlane, state }: Pick<Api, "controlPlane" | "state">,
  person: { readonly email: string; readonly name: string | null },
  rules: readonly AutoMember[],
  nowMs: number,
): Promise<Found> {
  const domain = person.email.slice(person.email.lastIndexOf("@") + 1);
  const rule = rules.find((one) => one.domain === domain);
  const [first] = rule === undefined ? [] : await controlPlane.accounts.workspaces();
  if (rule === undefined || first === undefined) throw new AccountRefused("unknown");
  const invited = await controlPlane.members.invite(first.id, person, rule.role, nowMs);
  if (invited === "full") throw new AccountRefused("full");
  state.notices.publish("keys");
  if (invited !== "member") return { user: invited.user, joinedAs: rule.role };
  // Another sign-in of the same person made it at the same moment.
  const user = await controlPlane.accounts.userByEmail(person.email);
  if (user === undefined) throw new AccountRefused("unknown");
  return { user, joinedAs: null };
}
