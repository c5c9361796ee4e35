/** What a browser answers for a passkey, read with bounds. What it proves is another file's. */
import { z } from "zod";

/** WebAuthn section 4: a credential's id has at most 1,023 bytes; of the others our bound: real ones have some hundred bytes. */
const base64url = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[\w-]+$/);
const credential = {
  id: base64url(1_400),
  rawId: base64url(1_400),
  type: z.literal("public-key"),
};

/** Of a device that signs in (WebAuthn section 5.2.2, as JSON). */
const assertion = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url(8_192),
    authenticatorData: base64url(8_192),
    signature: base64url(8_192),
    userHandle: base64url(128).nullish(),
  }),
});
/** Of a device that a passkey was made on (WebAuthn section 5.2.1, as JSON). */
const attestation = z.object({
  ...credential,
  response: z.object({ clientDataJSON: base64url(8_192), attestationObject: base64url(65_536) }),
});

export type Assertion = z.infer<typeof assertion>;
export type Attestation = z.infer<typeof attestation>;

/** @returns undefined for what is none */
export function readAssertion(sent: unknown): Assertion | undefined {
  return assertion.safeParse(sent).data;
}

/** @returns undefined for what is none */
export function readAttestation(sent: unknown): Attestation | undefined {
  return attestation.safeParse(sent).data;
}

const clientData = z.object({ challenge: z.string().max(128), crossOrigin: z.boolean().optional() });

/** @returns the challenge that was answered; undefined where there is none, or our page stood in a page of others */
export function readChallenge(clientDataJson: string): string | undefined {
  try {
    const read = clientData.safeParse(JSON.parse(Buffer.from(clientDataJson, "base64url").toString("utf8")));
    return read.success && read.data.crossOrigin !== true ? read.data.challenge : undefined;
  } catch {
    return undefined;
  }
}
