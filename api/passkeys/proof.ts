/** Whether an answer of a browser proves that it has a passkey, and that its person was asked (WebAuthn sections 7.1 and 7.2). */
import type { Passkey } from "../../store/sql/accounts/passkeys-port.ts";
import type { Assertion, Attestation } from "./answer.ts";
import type { RelyingParty } from "./relying-party.ts";

export interface MadePasskey {
  readonly credentialId: string;
  readonly publicKey: string;
  readonly counter: number;
}

/** @returns undefined where it proves nothing */
export async function provenPasskey(
  party: RelyingParty,
  challenge: string,
  answer: Attestation,
): Promise<MadePasskey | undefined> {
  // Loaded with the first passkey: most services have none.
  const [{ verifyRegistrationResponse }, { decodeAttestationObject }] = await Promise.all([
    import("@simplewebauthn/server"),
    import("@simplewebauthn/server/helpers"),
  ]);
  try {
    const stated = decodeAttestationObject(new Uint8Array(Buffer.from(answer.response.attestationObject, "base64url")));
    // Certificates name addresses of lists of revoked ones, which the library asks: no caller may choose what we ask.
    const isOwnWord = stated.get("fmt") === "none" || stated.get("fmt") === "packed";
    if (!isOwnWord || stated.get("attStmt").get("x5c") !== undefined) return undefined;
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...answer, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
    });
    if (registrationInfo === undefined) return undefined;
    const { id, publicKey, counter } = registrationInfo.credential;
    return { credentialId: id, publicKey: Buffer.from(publicKey).toString("base64url"), counter };
  } catch {
    // The library throws for every answer that is not good.
    return undefined;
  }
}

/** @returns the device's new counter; undefined where it proves nothing */
export async function provenCounter(
  party: RelyingParty,
  challenge: string,
  answer: Assertion,
  { credentialId, publicKey, counter }: Passkey,
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  const { userHandle, ...response } = answer.response;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...answer,
        response: { ...response, ...(typeof userHandle === "string" && { userHandle }) },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      credential: { id: credentialId, publicKey: new Uint8Array(Buffer.from(publicKey, "base64url")), counter },
      requireUserVerification: true,
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}
