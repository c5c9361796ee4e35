/** How a login fails, in words for people. None of them holds what we have sent. */
import { NetworkFault } from "../../net/fault.ts";
import type { HttpAnswer } from "./http.ts";

export function notOpenconnect({ status }: HttpAnswer): NetworkFault {
  return new NetworkFault("misconfigured", `This is not an OpenConnect server's login (HTTP ${status})`, {
    peerAnswered: true,
    hint: "Another port, another path, or the secret of its camouflage is missing: host may be https://host:port/?secret",
  });
}

/** @param withGroup servers do not say which of the three it was */
export function refusedLogin(withGroup: boolean, said: string | null): NetworkFault {
  const what = withGroup ? "the username, the password or the group" : "the username or password";
  return new NetworkFault("auth-failed", `The server refused ${what}`, detail(said));
}

/** After the login: ocserv 1.1.6 says this also when it has no address left to give. */
export function refusedSession(said: string | null): NetworkFault {
  return new NetworkFault("auth-failed", "The server accepts the login and refuses the session", {
    ...detail(said),
    hint: "Too many sessions of this user, no address left for the tunnel, or a group that may not connect",
  });
}

export function needsPerson(what: string, said: string | null): NetworkFault {
  return new NetworkFault("auth-failed", `The login needs a person: the server asks for ${what}`, {
    ...detail(said),
    hint: "A check can give a username, a password and a group; use an account without a second factor",
  });
}

export function needsHostScan(): NetworkFault {
  return new NetworkFault("misconfigured", "The server wants a program of its own to be run here (CSD, HostScan)", {
    peerAnswered: true,
    hint: "Nothing that a server sends is ever run; use an account or group without posture checks",
  });
}

export function needsCertificate(): NetworkFault {
  return new NetworkFault("misconfigured", "The server wants a client certificate", {
    peerAnswered: true,
    hint: "A check logs in with a username and a password only",
  });
}

export function noSuchGroup(offered: readonly string[]): NetworkFault {
  return new NetworkFault("misconfigured", "The server has no group of that name", {
    peerAnswered: true,
    hint: `Its groups: ${offered.slice(0, 16).join(", ")}`,
  });
}

/** ocserv closes so what it takes no more of, without a word; and over TLS 1.2 what shows no certificate where it wants one. */
const CLOSES =
  "A server that takes no more clients, has banned this checker's address, or wants a client certificate over TLS 1.2 does so";

export function closedBeforeTls(cause: unknown): NetworkFault {
  return new NetworkFault("closed", "The server took the connection and closed it during the TLS handshake", {
    hint: CLOSES,
    cause,
  });
}

export function closedBeforeLogin(): NetworkFault {
  return new NetworkFault("closed", "The server closed the connection instead of answering the login", {
    peerAnswered: true,
    hint: CLOSES,
  });
}

export function unexpected(words: string, said: string | null = null): NetworkFault {
  return new NetworkFault("protocol-error", words, detail(said));
}

export function serverTrouble(words: string, said: string | null): NetworkFault {
  return new NetworkFault("rejected", words, detail(said));
}

function detail(said: string | null): { readonly peerAnswered: true; readonly peer?: string } {
  return { peerAnswered: true, ...(said !== null && said !== "" && { peer: said }) };
}
