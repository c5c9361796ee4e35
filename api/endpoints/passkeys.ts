/** Passkeys of the person who is signed in: added, named, removed; and the challenge that signs in with one. */
import { z } from "zod";
import { parseId } from "../../model/ids.ts";
import { formatIso, isoOrNull } from "../../model/time.ts";
import { hashSecret } from "../../store/session-secret.ts";
import type { Passkey } from "../../store/sql/accounts/passkeys-port.ts";
import { networkOf } from "../address.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { refuseForged } from "../csrf.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { codePoints, hasNul } from "../monitors/every-kind.ts";
import { readAttestation, readChallenge } from "../passkeys/answer.ts";
import { provenPasskey } from "../passkeys/proof.ts";
import { CHALLENGE_LIVES_MS, newChallenge, partyOf, userHandleOf } from "../passkeys/sign-in.ts";
import { type Call, type KeyCall, type Route, shape } from "../route.ts";

/** Code points. */
const MAX_NAME = 60;
/** Challenges that one network asks for in a minute; our choice, as of the provider's sign-in. */
const A_MINUTE = 120;
const MINUTE_MS = 60_000;

const addBody = z
  .object({
    name: z.string().max(MAX_NAME),
    credential: z.record(z.string(), z.unknown()).describe("What the browser answers, as JSON (WebAuthn section 5.1)"),
  })
  .meta({ id: "NewPasskey", examples: [{ name: "Phone", credential: {} }] });
const renameBody = z
  .object({ name: z.string().max(MAX_NAME) })
  .meta({ id: "RenamePasskey", examples: [{ name: "Phone" }] });

async function signInChallenge(api: Api, call: Call): Promise<ApiResponse> {
  refuseForged(call.request, api.config.baseUrl);
  const party = partyOf(api);
  const gate = `passkeys ${networkOf(call.clientAddress)}`;
  if (!(await api.state.counters.takeFrom(gate, A_MINUTE, MINUTE_MS, call.nowMs)))
    throw refusal("tooManySignIns", { retryAfterS: MINUTE_MS / 1_000 });
  const challenge = await newChallenge(api, call, "passkey", null);
  return ok({ challenge, rp_id: party.id, timeout_ms: CHALLENGE_LIVES_MS });
}

async function list(api: Api, call: KeyCall): Promise<ApiResponse> {
  refuseKeys(call);
  const passkeys = (await api.controlPlane.passkeys.ofUser(call.user.id)).map(view);
  return ok({ passkeys, total: passkeys.length });
}

async function newOne(api: Api, call: KeyCall): Promise<ApiResponse> {
  await addedVia(api, call);
  const { id, name, email } = call.user;
  const party = partyOf(api);
  const kept = await api.controlPlane.passkeys.ofUser(id);
  return ok({
    challenge: await newChallenge(api, call, "new-passkey", id),
    rp_id: party.id,
    user: { id: userHandleOf(id), name: email, display_name: name ?? email },
    exclude: kept.map(({ credentialId }) => credentialId),
    timeout_ms: CHALLENGE_LIVES_MS,
  });
}

async function add(api: Api, call: KeyCall): Promise<ApiResponse> {
  const body = readObject(call.request);
  const via = await addedVia(api, call);
  const party = partyOf(api);
  const name = nameOf(body);
  const { identities, passkeys } = api.controlPlane;
  const answer = readAttestation(fieldOf(body, "credential"));
  const challenge = answer && readChallenge(answer.response.clientDataJSON);
  if (answer === undefined || challenge === undefined) throw refusal("passkeyInvalid");
  const attempt = await identities.takeAttempt(hashSecret(challenge), "new-passkey", call.nowMs);
  const made = attempt?.userId === call.user.id ? await provenPasskey(party, challenge, answer) : undefined;
  if (made === undefined) throw refusal("passkeyInvalid");
  const passkey = { ...made, userId: call.user.id, name, addedVia: via, createdAtMs: call.nowMs };
  const added = await passkeys.add(passkey, refuseKeys(call).id);
  if (added === "ended") throw refusal("sessionEnded");
  if (added === "taken") throw refusal("passkeyTaken");
  if (added === "full") throw refusal("passkeysTooMany");
  return ok(view(added));
}

async function rename(api: Api, call: KeyCall): Promise<ApiResponse> {
  refuseKeys(call);
  const id = idOf(call);
  const renamed = await api.controlPlane.passkeys.rename(call.user.id, id, nameOf(readObject(call.request)));
  if (renamed === undefined) throw refusal("passkeyNotFound");
  return ok(view(renamed));
}

async function remove(api: Api, call: KeyCall): Promise<ApiResponse> {
  refuseKeys(call);
  const id = idOf(call);
  if (!(await api.controlPlane.passkeys.remove(call.user.id, id))) throw refusal("passkeyNotFound");
  return ok({ success: true, id });
}

/** @throws 403 */
function refuseKeys({ session }: KeyCall): NonNullable<KeyCall["session"]> {
  if (session === null) throw refusal("sessionOnly");
  return session;
}

/**
 * A session of a key ends with the key and may reach one workspace alone; a passkey that it added would do neither.
 * @throws 403
 */
async function addedVia(api: Api, call: KeyCall): Promise<Passkey["addedVia"]> {
  const { via } = refuseKeys(call);
  switch (via) {
    case "key":
      throw refusal("passkeyByKey");
    case "link":
    case "oidc":
      return via;
    case "passkey": {
      // Which of them signed in is not known, so the weakest counts.
      const kept = await api.controlPlane.passkeys.ofUser(call.user.id);
      return kept.length > 0 && kept.every((one) => one.addedVia === "oidc") ? "oidc" : "link";
    }
  }
}

function idOf(call: KeyCall): number {
  const id = parseId("passkey", call.params[0] ?? "");
  if (id === undefined) throw refusal("invalidPasskeyId");
  return id;
}

function nameOf(body: JsonObject): string {
  const sent = fieldOf(body, "name");
  const name = typeof sent === "string" ? sent.trim() : "";
  if (name === "" || codePoints(name) > MAX_NAME || hasNul(name)) throw refusal("passkeyNameInvalid");
  return name;
}

function view({ id, name, createdAtMs, usedAtMs }: Passkey) {
  return {
    id,
    name,
    created_at: formatIso(createdAtMs),
    used_at: isoOrNull(usedAtMs),
  };
}

const params = {
  id: z
    .string()
    .regex(/^[0-9]+$/)
    .describe("Passkey id")
    .meta({ examples: ["3"] }),
};
const base = { group: "Session", scope: "key" } as const;

export const passkeyRoutes: readonly Route[] = [
  {
    group: "Session",
    scope: "public",
    isPrivate: true,
    method: "POST",
    path: "/session/passkey",
    operationId: "challengePasskey",
    audit: null,
    summary: "A challenge for a passkey, whose answer POST /session takes",
    description: "For the page, as POST /session. It works once, within five minutes.",
    responses: { 200: shape("passkeyChallenge") },
    refusals: ["notFromPage", "passkeysOff", "tooManySignIns", "storeAway", "redisAway"],
    handle: signInChallenge,
  },
  listed({
    ...base,
    method: "GET",
    path: "/passkeys",
    operationId: "listPasskeys",
    summary: "List the passkeys of the person, oldest first",
    responses: { 200: shape("passkeyList") },
    refusals: ["sessionOnly"],
    handle: list,
  }),
  {
    ...base,
    method: "POST",
    path: "/passkeys/challenge",
    operationId: "challengeNewPasskey",
    audit: null,
    summary: "What a browser makes a new passkey of",
    responses: { 200: shape("newPasskeyChallenge") },
    refusals: ["sessionOnly", "passkeyByKey", "passkeysOff"],
    handle: newOne,
  },
  {
    ...base,
    method: "POST",
    path: "/passkeys",
    operationId: "addPasskey",
    audit: "passkey.added",
    summary: "Add a passkey of the person",
    body: { schema: addBody, required: true },
    responses: { 200: shape("passkey") },
    refusals: [
      ...(["sessionOnly", "passkeyByKey", "passkeysOff", "passkeyNameInvalid"] as const),
      ...(["passkeyInvalid", "passkeyTaken", "passkeysTooMany"] as const),
    ],
    handle: add,
  },
  {
    ...base,
    method: "PUT",
    path: "/passkeys/{id}",
    operationId: "renamePasskey",
    audit: "passkey.updated",
    summary: "Give a passkey another name",
    params,
    body: { schema: renameBody, required: true },
    responses: { 200: shape("passkey") },
    refusals: ["sessionOnly", "invalidPasskeyId", "passkeyNameInvalid", "passkeyNotFound"],
    handle: rename,
  },
  {
    ...base,
    method: "DELETE",
    path: "/passkeys/{id}",
    operationId: "removePasskey",
    audit: {
      what: "passkey.removed",
      nameOf: async (api, call) => {
        const kept = await api.controlPlane.passkeys.ofUser(call.user.id);
        return kept.find(({ id }) => id === Number(call.params[0]))?.name ?? null;
      },
    },
    summary: "Remove a passkey of the person; sessions that it began go on",
    params,
    responses: { 200: shape("removedPasskey") },
    refusals: ["sessionOnly", "invalidPasskeyId", "passkeyNotFound"],
    handle: remove,
  },
];
