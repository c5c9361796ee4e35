/** Sessions of the page. */
import { z } from "zod";
import { whoami } from "./account.ts";
import { iso, total, warnings } from "./words.ts";

export const session = z
  .strictObject({
    ...whoami.omit({ key: true }).shape,
    expires_at: iso.describe("When it ends if it is not used until then"),
    warnings,
  })
  .meta({ id: "Session" });

const oneSession = z
  .strictObject({
    id: z.int().min(1),
    created_at: iso,
    seen_at: iso.describe("May lag by a minute"),
    address: z.string().describe("Where it began"),
    device: z
      .string()
      .describe("Browser and system, as they call themselves")
      .meta({ examples: ["Firefox on Linux"] }),
    current: z.boolean().describe("Whether it is the one that asks"),
    via: z.enum(["key", "link", "oidc", "passkey"]).describe("How the person signed in"),
  })
  .meta({ id: "SessionEntry" });
export const sessionList = z.strictObject({ sessions: z.array(oneSession), total }).meta({ id: "SessionList" });

export const signedOut = z.strictObject({ success: z.literal(true) }).meta({ id: "SignedOut" });
export const endedSessions = z
  .strictObject({ success: z.literal(true), ended: total.describe("How many sessions ended") })
  .meta({ id: "EndedSessions" });

export const signInWays = z
  .strictObject({
    oidc: z
      .strictObject({
        name: z
          .string()
          .describe("Its host")
          .meta({ examples: ["login.test-site.org"] }),
      })
      .nullable()
      .describe("The provider of identities; null: none is set up"),
    passkeys: z.boolean().describe("Whether passkeys can be used here"),
  })
  .meta({ id: "SignInWays" });

export const providerSignIn = z
  .strictObject({ url: z.string().describe("Where the person signs in"), warnings })
  .meta({ id: "ProviderSignIn" });

const challenge = {
  challenge: z.string(),
  rp_id: z.string().describe("Whose passkeys they are: the host of the page"),
  timeout_ms: z.int(),
  warnings,
};
export const passkeyChallenge = z.strictObject(challenge).meta({ id: "PasskeyChallenge" });
export const newPasskeyChallenge = z
  .strictObject({
    ...challenge,
    user: z.strictObject({ id: z.string(), name: z.string(), display_name: z.string() }),
    exclude: z.array(z.string()).describe("Ids of credentials that the person has"),
  })
  .meta({ id: "NewPasskeyChallenge" });

const passkeyFields = {
  id: z.int().min(1),
  name: z.string(),
  created_at: iso,
  used_at: iso.nullable().describe("When it signed in last; null: never"),
};
export const passkey = z.strictObject({ ...passkeyFields, warnings }).meta({ id: "Passkey" });
export const passkeyList = z.strictObject({ passkeys: z.array(passkey), total }).meta({ id: "PasskeyList" });
export const removedPasskey = z.strictObject({ success: z.literal(true), id: z.int() }).meta({ id: "RemovedPasskey" });
