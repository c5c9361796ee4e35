/** Maps a core's log message about a connection to a verdict. The first match wins; rules see the whole chain of causes. */
import type { Verdict } from "../../model/verdict.ts";

export interface Finding {
  /** The core's number of the connection, which joins its lines; null outside of one. */
  readonly session: string | null;
  /** Of the entry, where the line names it. */
  readonly tag: string | null;
  /** null: the line only joins a connection with its entry, or says that it got as far as the server (`isReached`). */
  readonly verdict: Verdict | null;
  /** What stands behind the verdict, one of ours: never the core's own text, which may hold a credential. */
  readonly reason: string;
  /** The server was reached and the transport to it stands; set where the core says so (xray). */
  readonly isReached?: boolean;
  /** It is about every connection that the core has at this moment. */
  readonly isOfAll?: boolean;
}

/** A test of a text: a regular expression or an object of this file. */
interface FindingPattern {
  test(text: string): boolean;
}

type Row = readonly [words: FindingPattern, verdict: Verdict, reason: string];

/** Go's `lookup vpn.test-site.org: i/o timeout`. */
const LOOKUP_TIMEOUT: FindingPattern = {
  test(text) {
    const at = text.indexOf("lookup ");
    return at >= 0 && text.includes(": i/o timeout", at);
  },
};

const ROWS: readonly Row[] = [
  [
    /failed to load config files|failed to build outbound config|unknown config id|existing tag found|has been removed and migrated/,
    "misconfigured",
    "the core refuses the config",
  ],
  [
    /decode config|unknown field|initialize outbound\[|duplicate outbound\/endpoint tag|rebuild with -tags/,
    "misconfigured",
    "the core refuses the config",
  ],
  [
    /tls config is nil|udphop requires|xtls only supports tls and reality|create method >|missing psk|unknown method/,
    "misconfigured",
    "the core cannot use the config",
  ],
  [/found outer tls version/, "misconfigured", "the link's flow needs TLS 1.3, and the server has an older one"],
  [/non existing outtag|outbound not found|address already in use/, "internal-error", "the core was set up wrongly"],
  // What a hysteria2 server says about its own way to the target: the words after it are about that, not about the server.
  [
    /remote error: (?!tls:)|connection ends > proxy\/hysteria: /,
    "stuck",
    "the server took the credential and could not reach the target",
  ],
  // REALITY's decoy answers with its own certificate: a wrong key, short id or name, or a client that the server does not like.
  [
    /received real certificate|processed invalid connection|reality verification failed/,
    "auth-failed",
    "REALITY refused the key, short id or name",
  ],
  // crypto/tls: the key of its config is not the server's, or the server has none.
  [/server rejected ech/, "handshake-failed", "the server refused the ECH config"],
  [/peer cert is unrecognized|unrecognized remote public key/, "cert-invalid", "the certificate is not the pinned one"],
  [/x509: certificate has expired or is not yet valid/, "cert-invalid", "the certificate is expired or not yet valid"],
  [
    /x509: certificate is valid for|doesn't contain any ip sans|certificate is not valid for any names/,
    "cert-invalid",
    "the certificate is for another name",
  ],
  [
    /x509:|failed to verify certificate|crypto_error 0x1(?:2a|2d|2e|30)/,
    "cert-invalid",
    "the certificate is not trusted",
  ],
  [/\bauth failed\b|authentication failed, status code/, "auth-failed", "the server refused the credential"],
  // gRPC's answer for a service that is not there; xray wraps it in its own words about an answer that it could not read.
  [/code = unimplemented/, "handshake-failed", "the server does not know the path, host or service"],
  // grpc-go's words for a web server: of HTTP/1.1, and of HTTP/2 that answers with a page. Those of HTTP/1.1 are Go's own, which xhttp meets too.
  [
    /error reading server preface|frame header looked like an http\/1\.1 header/,
    "handshake-failed",
    "the server does not speak HTTP/2, which the link's transport needs",
  ],
  [
    /unexpected http status code received from server: 5\d\d/,
    "handshake-failed",
    "the server's front has no server behind it",
  ],
  [
    /unexpected http status code received from server|malformed header: missing http content-type|unexpected content-type/,
    "handshake-failed",
    "the server answers as a web server and not as one of grpc",
  ],
  [
    /unexpected response version|failed to read response version|failed to decode response header/,
    "auth-failed",
    "the server does not know the user",
  ],
  [
    /failed to read header|unable to read header len|unexpected response header|message authentication failed|bad timestamp/,
    "auth-failed",
    "the server does not know the key, or a clock is off",
  ],
  [/application error 0x0 \(remote\)/, "auth-failed", "the server closed the session after the credential"],
  [
    /(?:bad handshake|unexpected (?:http response )?status|bad status code).{0,40}\b(?:5\d\d)\b/,
    "handshake-failed",
    "the server's front has no server behind it",
  ],
  [
    /bad handshake|unexpected http response status|unrecognized reply|unexpected status|bad status code/,
    "handshake-failed",
    "the server does not know the path, host or service",
  ],
  [/first record does not look like a tls handshake/, "handshake-failed", "the server does not speak TLS at this port"],
  [/remote error: tls:|crypto_error 0x1/, "handshake-failed", "the server refused the TLS handshake"],
  // sing-box ends the sessions of QUIC when this machine's default interface changes.
  [/network changed/, "unfit", "the network of this checker changed"],
  [/connection refused/, "refused", "the port is closed"],
  [/no such host|dns: exchange failed/, "unresolved", "the name has no address"],
  [LOOKUP_TIMEOUT, "unresolved", "the name has no address"],
  [/network is unreachable|no route to host/, "unreachable", "there is no way to the server"],
  [
    /tls handshake timeout|handshake did not complete in time|no recent network activity|i\/o timeout|deadline exceeded/,
    "timeout",
    "the server did not answer in time",
  ],
  // xhttp's own requests: a server that refuses the credential has answered these before, so nothing is said of that.
  [
    /splithttp: failed to (?:get|post) /,
    "handshake-failed",
    "the server ends the transport's HTTP requests: it may speak another version of HTTP than the link's alpn names",
  ],
  [/connection reset by peer|broken pipe|\beof\b/, "closed", "the server closed the connection"],
];

/** @returns undefined when the text is about nothing known */
export function judge(text: string): { readonly verdict: Verdict; readonly reason: string } | undefined {
  const lower = text.toLowerCase();
  const row = ROWS.find(([words]) => words.test(lower));
  return row === undefined ? undefined : { verdict: row[1], reason: row[2] };
}
