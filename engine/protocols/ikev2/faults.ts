/** What a gateway's error notifies mean for the verdict (RFC 7296 section 3.10.1). Pure. */
import { NetworkFault } from "../../net/fault.ts";
import { NOTIFY, type Notify, notifyName } from "./notify.ts";
import { OFFERED_GROUPS } from "./proposals.ts";

export type Stage = "init" | "auth" | "child";

/** What proposals.ts offers, in words. */
const IKE_OFFER = `AES-GCM, AES-CBC with HMAC-SHA2 or SHA-1, or ChaCha20-Poly1305, with group ${[...OFFERED_GROUPS].join(", ")}`;
const CHILD_OFFER = "AES-GCM, AES-CBC with HMAC, or ChaCha20-Poly1305, without extended sequence numbers";

/** Of several notifies the most informative comes first. */
export function faultOfNotify({ type, data }: Notify, stage: Stage): NetworkFault {
  const peer = notifyName(type);
  const known = (verdict: NetworkFault["verdict"], message: string, hint?: string): NetworkFault =>
    new NetworkFault(verdict, message, { peer, peerAnswered: true, ...(hint !== undefined && { hint }) });
  switch (type) {
    case NOTIFY.authenticationFailed:
      return known(
        "auth-failed",
        "The gateway refused the credentials",
        "A wrong key, password or identity (remote_id) and an unknown client look alike",
      );
    case NOTIFY.noProposalChosen:
      return stage === "init"
        ? known(
            "misconfigured",
            "The gateway accepts none of the algorithms that were offered",
            `It may know IKEv1 only. Else one of these must be allowed there: ${IKE_OFFER}`,
          )
        : known(
            "misconfigured",
            "The gateway accepts none of the algorithms that were offered for the tunnel's data",
            `One of these must be allowed there: ${CHILD_OFFER}`,
          );
    case NOTIFY.invalidKePayload:
      return known("misconfigured", `The gateway wants key exchange group ${groupOf(data)}, which is not supported`);
    case NOTIFY.invalidSyntax:
    case NOTIFY.unsupportedCriticalPayload:
    case NOTIFY.invalidMajorVersion:
      return known("misconfigured", "The gateway does not understand our messages");
    case NOTIFY.tsUnacceptable:
    case NOTIFY.singlePairRequired:
    case NOTIFY.invalidSelectors:
      return known("misconfigured", "The gateway accepts no traffic from us through the tunnel");
    case NOTIFY.internalAddressFailure:
    case NOTIFY.failedCpRequired:
      return known("misconfigured", "The gateway has no address for us inside the tunnel");
    case NOTIFY.noAdditionalSas:
      return known("misconfigured", "The gateway accepts no further tunnel");
    case NOTIFY.temporaryFailure:
      return known("timeout", "The gateway is busy and asks to come back later");
    default:
      return known("handshake-failed", `The gateway ended the handshake: ${peer}`);
  }
}

function groupOf(data: Buffer): string {
  return data.length === 2 ? String(data.readUInt16BE(0)) : "of no number";
}
