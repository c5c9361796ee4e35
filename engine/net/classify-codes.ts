/** Error codes and their verdicts: data for classify.ts. Each table names its source. */
import type { Verdict } from "../../model/verdict.ts";

export interface Classified {
  readonly verdict: Exclude<Verdict, "ok">;
  /** Words for error_message: plain text, at most 500 characters. */
  readonly message: string;
  /** Whether the target had spoken, where the fault itself knows; undefined leaves it to the runner. */
  readonly peerAnswered?: boolean;
  readonly peer?: string;
  readonly hint?: string;
}

/** Codes with which this machine, not the target, refuses (errno(3)); the verdict is `unfit`. */
export const LOCAL_REFUSALS: ReadonlyMap<string, string> = new Map([
  ["EMFILE", "too many open files in this process"],
  ["ENFILE", "too many open files on this machine"],
  ["ENOBUFS", "no buffer space left"],
  ["ENOMEM", "out of memory"],
  ["EADDRNOTAVAIL", "no local address or port left"],
  ["EADDRINUSE", "local port in use"],
  ["EAGAIN", "no local resources right now"],
  ["ENETDOWN", "the local network is down"],
  ["EPERM", "not permitted here"],
  ["OUT_OF_MEM", "out of memory"],
]);

/** errno(3), c-ares and getaddrinfo codes, Node's own codes and undici's (its docs, "Errors"). */
export const SYSTEM_CODES: ReadonlyMap<string, Classified> = new Map<string, Classified>([
  ["ECONNREFUSED", { verdict: "refused", message: "Connection refused" }],
  ["EHOSTUNREACH", { verdict: "unreachable", message: "Host unreachable" }],
  ["ENETUNREACH", { verdict: "unreachable", message: "Network unreachable" }],
  ["EHOSTDOWN", { verdict: "unreachable", message: "Host is down" }],
  ["ENONET", { verdict: "unreachable", message: "Network unreachable" }],
  ["ECONNRESET", { verdict: "closed", message: "Connection reset by the server" }],
  ["ECONNABORTED", { verdict: "closed", message: "Connection aborted" }],
  ["ENOTCONN", { verdict: "closed", message: "Connection closed by the server" }],
  ["EPIPE", { verdict: "closed", message: "Connection closed by the server" }],
  ["ERR_STREAM_PREMATURE_CLOSE", { verdict: "closed", message: "Connection closed before the answer was complete" }],
  ["ETIMEDOUT", { verdict: "timeout", message: "Timed out" }],
  ["ERR_TLS_HANDSHAKE_TIMEOUT", { verdict: "timeout", message: "Timed out" }],
  ["ENOTFOUND", { verdict: "unresolved", message: "The name does not exist" }],
  ["ENODATA", { verdict: "unresolved", message: "The name has no address" }],
  ["EAI_AGAIN", { verdict: "unresolved", message: "The name could not be resolved" }],
  ["EAI_NODATA", { verdict: "unresolved", message: "The name has no address" }],
  ["EAI_NONAME", { verdict: "unresolved", message: "The name does not exist" }],
  ["EAFNOSUPPORT", { verdict: "unsupported", message: "This checker does not support the address family" }],
  ["EPROTONOSUPPORT", { verdict: "unsupported", message: "This checker does not support the protocol" }],
  ["EMSGSIZE", { verdict: "protocol-error", message: "The message does not fit into a datagram" }],
  ["UND_ERR_CONNECT_TIMEOUT", { verdict: "timeout", message: "Timed out" }],
  ["UND_ERR_HEADERS_TIMEOUT", { verdict: "timeout", message: "Timed out" }],
  ["UND_ERR_BODY_TIMEOUT", { verdict: "timeout", message: "Timed out" }],
  ["UND_ERR_ABORTED", { verdict: "timeout", message: "Timed out" }],
  ["UND_ERR_SOCKET", { verdict: "closed", message: "Connection closed before the answer was complete" }],
  ["UND_ERR_HEADERS_OVERFLOW", { verdict: "protocol-error", message: "The answer's headers are too long" }],
  [
    "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
    { verdict: "protocol-error", message: "The answer is not as long as it says" },
  ],
  ["UND_ERR_RES_EXCEEDED_MAX_SIZE", { verdict: "protocol-error", message: "The answer is too long" }],
  ["UND_ERR_DESTROYED", { verdict: "cancelled", message: "The check was cancelled" }],
  ["UND_ERR_CLOSED", { verdict: "cancelled", message: "The check was cancelled" }],
]);

/** OpenSSL's X509 verification errors by Node's names (docs, tls, "X509 certificate error codes") and Node's own two. */
export const CERTIFICATE_PROBLEMS: ReadonlyMap<string, string> = new Map([
  ["CERT_HAS_EXPIRED", "The certificate has expired"],
  ["CERT_NOT_YET_VALID", "The certificate is not valid yet"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "The certificate is self-signed"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "The certificate chain ends in an untrusted self-signed certificate"],
  ["UNABLE_TO_GET_ISSUER_CERT", "The certificate's issuer is unknown"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "The certificate's issuer is unknown"],
  [
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "The certificate cannot be verified: its issuer is unknown, or the chain is incomplete",
  ],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "The certificate is for another name"],
  ["ERR_TLS_CERT_ALTNAME_FORMAT", "The certificate's names cannot be read"],
  ["ERR_TLS_CERT_SIGNATURE_ALGORITHM_UNSUPPORTED", "The certificate's signature algorithm is not supported"],
  ["HOSTNAME_MISMATCH", "The certificate is for another name"],
  ["CERT_SIGNATURE_FAILURE", "The certificate's signature is wrong"],
  ["CERT_REVOKED", "The certificate was revoked"],
  ["CERT_UNTRUSTED", "The certificate is not trusted"],
  ["CERT_REJECTED", "The certificate was rejected"],
  ["CERT_CHAIN_TOO_LONG", "The certificate chain is too long"],
  ["INVALID_CA", "The certificate's issuer may not issue certificates"],
  ["INVALID_PURPOSE", "The certificate is not for servers"],
  ["PATH_LENGTH_EXCEEDED", "The certificate chain is longer than its issuers allow"],
  ["UNABLE_TO_GET_CRL", "The certificate's revocation list cannot be had"],
  ["UNABLE_TO_DECRYPT_CERT_SIGNATURE", "The certificate's signature cannot be read"],
  ["UNABLE_TO_DECRYPT_CRL_SIGNATURE", "The revocation list's signature cannot be read"],
  ["UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY", "The issuer's public key cannot be read"],
  ["CRL_SIGNATURE_FAILURE", "The revocation list's signature is wrong"],
  ["CRL_NOT_YET_VALID", "The revocation list is not valid yet"],
  ["CRL_HAS_EXPIRED", "The revocation list has expired"],
  ["ERROR_IN_CERT_NOT_BEFORE_FIELD", "The certificate's dates cannot be read"],
  ["ERROR_IN_CERT_NOT_AFTER_FIELD", "The certificate's dates cannot be read"],
  ["ERROR_IN_CRL_LAST_UPDATE_FIELD", "The revocation list's dates cannot be read"],
  ["ERROR_IN_CRL_NEXT_UPDATE_FIELD", "The revocation list's dates cannot be read"],
  // What Node calls every verification error that it has no name for.
  ["UNSPECIFIED", "The certificate is not valid"],
]);
