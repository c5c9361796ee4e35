/** Passkeys, as the browser makes and uses them; what speaks with it is loaded when it is needed. */
import { client, data, type Schemas } from "../api/client.ts";

/** Not with plain HTTP, and not in every browser. */
export const hasPasskeys = (): boolean => typeof PublicKeyCredential === "function";

/** The person closed the browser's dialog, or did not answer it: there is nothing to say. */
export function isGivenUp(error: unknown): boolean {
  return error instanceof Error && (error.name === "NotAllowedError" || error.name === "AbortError");
}

/** @returns what POST /session takes */
export async function answerPasskey(): Promise<{ passkey: Record<string, unknown> }> {
  const [{ challenge, rp_id: rpId, timeout_ms: timeout }, { startAuthentication }] = await Promise.all([
    data(client.POST("/session/passkey")),
    import("@simplewebauthn/browser"),
  ]);
  const optionsJSON = { challenge, rpId, timeout, userVerification: "required" } as const;
  return { passkey: { ...(await startAuthentication({ optionsJSON })) } };
}

export async function addPasskey(name: string): Promise<Schemas["Passkey"]> {
  const [asked, { startRegistration }] = await Promise.all([
    data(client.POST("/passkeys/challenge")),
    import("@simplewebauthn/browser"),
  ]);
  const credential = await startRegistration({
    optionsJSON: {
      challenge: asked.challenge,
      rp: { id: asked.rp_id, name: "Sonde" },
      user: { id: asked.user.id, name: asked.user.name, displayName: asked.user.display_name },
      // ES256, EdDSA, RS256 (RFC 9053).
      pubKeyCredParams: ([-7, -8, -257] as const).map((alg) => ({ type: "public-key", alg })),
      timeout: asked.timeout_ms,
      attestation: "none",
      excludeCredentials: asked.exclude.map((id) => ({ id, type: "public-key" })),
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
    },
  });
  return data(client.POST("/passkeys", { body: { name, credential: { ...credential } } }));
}
