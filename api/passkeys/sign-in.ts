/** Signing in with a passkey: a challenge, and the person whose device answers it. */
import { hash } from "node:crypto";
import { hashSecret, newSecret } from "../../store/session-secret.ts";
import type { AttemptPurpose } from "../../store/sql/accounts/identities-port.ts";
import type { UserRecord } from "../../store/sql/accounts/port.ts";
import { networkOf } from "../address.ts";
import type { Api } from "../api.ts";
import { refusal } from "../errors.ts";
import { WRONG_KEY_RETRY_S } from "../limits.ts";
import type { Call } from "../route.ts";
import { readAssertion, readChallenge } from "./answer.ts";
import { provenCounter } from "./proof.ts";
import { type RelyingParty, relyingPartyOf } from "./relying-party.ts";

/** A person finds the device and types its code in that time; our choice. */
export const CHALLENGE_LIVES_MS = 300_000;

/** @throws 404 */
export function partyOf({ config }: Pick<Api, "config">): RelyingParty {
  const party = relyingPartyOf(config.baseUrl);
  if (party === null) throw refusal("passkeysOff");
  return party;
}

/** The device's id of a person: never changes, and reveals nothing. */
export function userHandleOf(userId: number): string {
  return hash("sha256", `sonde person ${userId}`, "base64url");
}

/** The store has its hash alone. @returns the challenge: 32 random bytes in base64url */
export async function newChallenge(
  { controlPlane }: Api,
  { nowMs }: Call,
  purpose: Exclude<AttemptPurpose, "oidc">,
  userId: number | null,
): Promise<string> {
  const { text, hash: attemptHash } = newSecret();
  const expiresAtMs = nowMs + CHALLENGE_LIVES_MS;
  await controlPlane.identities.addAttempt({ attemptHash, purpose, userId, nowMs, expiresAtMs });
  return text;
}

/** Answers that prove nothing count as wrong keys do. @throws ApiError */
export async function personOfPasskey(api: Api, call: Call, sent: unknown): Promise<UserRecord> {
  const party = partyOf(api);
  const { counters } = api.state;
  const network = networkOf(call.clientAddress);
  if (!(await counters.mayTryKey(network, call.nowMs)))
    throw refusal("tooManyWrongKeys", { retryAfterS: WRONG_KEY_RETRY_S });
  const user = await proven(api, call, party, sent);
  if (user === undefined) {
    await counters.wrongKey(network, call.nowMs);
    throw refusal("passkeyUseless");
  }
  if (!user.active) throw refusal("ownerInactive");
  return user;
}

async function proven(api: Api, call: Call, party: RelyingParty, sent: unknown): Promise<UserRecord | undefined> {
  const { identities, passkeys } = api.controlPlane;
  const answer = readAssertion(sent);
  const challenge = answer && readChallenge(answer.response.clientDataJSON);
  if (answer === undefined || challenge === undefined) return undefined;
  // Used up before anything is looked at: an answer is tried once.
  if ((await identities.takeAttempt(hashSecret(challenge), "passkey", call.nowMs)) === undefined) return undefined;
  const access = await passkeys.access(answer.id);
  if (access === undefined) return undefined;
  const { passkey, user } = access;
  if (answer.response.userHandle !== userHandleOf(user.id)) return undefined;
  const counter = await provenCounter(party, challenge, answer, passkey);
  return counter !== undefined && (await passkeys.use(passkey.id, counter, call.nowMs)) ? user : undefined;
}
