/** What an OpenVPN server's words, its silence and its end mean (by stage). */
import type { X509Certificate } from "node:crypto";
import { classifyCode } from "../net/classify.ts";
import { NetworkFault } from "../net/fault.ts";
import type { ControlText } from "../protocols/openvpn/control-text.ts";
import type { ProtectionKeys } from "../protocols/openvpn/protection.ts";
import { commonName } from "../protocols/openvpn/subject.ts";

/** Up to: the server's first answer, its TLS, our certificate's taking, its keys, its options. */
export type Stage = "reset" | "hello" | "certificates" | "keys" | "options" | "up";

/** Silence that may be a refusal: it is one when the server answers a new session. */
export class SilentRefusal extends NetworkFault {}

export interface SilenceContext {
  readonly afterMs: number;
  /** The server has acknowledged all that was said. */
  readonly isTaken: boolean;
  readonly protection: ProtectionKeys["kind"];
  readonly hasCertificate: boolean;
  readonly hasLogin: boolean;
}

export function faultOfSilence(stage: Stage, context: SilenceContext): NetworkFault {
  const seconds = Math.round(context.afterMs / 100) / 10;
  switch (stage) {
    case "reset":
      return new NetworkFault("timeout", `No answer to the first packet in ${seconds} s`, {
        peerAnswered: false,
        hint:
          context.protection === "none"
            ? "The server is down, its port is blocked, or it wants tls-auth or tls-crypt, which the profile does not have"
            : `The server is down, its port is blocked, or the ${context.protection} key${context.protection === "tls-auth" ? ", key-direction or auth" : ""} is another one than the server's: such packets are dropped without a word`,
      });
    case "hello":
      return new NetworkFault(
        "timeout",
        `The server answered the first packet and is silent since TLS began (${seconds} s)`,
        {
          peerAnswered: true,
          hint: "It may take no further client (max-clients) or none so soon (connect-freq), want another TLS version or cipher than the profile, or large packets are lost on the way",
        },
      );
    case "certificates":
    case "keys":
      if (!context.isTaken) return new SilentRefusal("timeout", silentAfter(context), { peerAnswered: true });
      return new NetworkFault(
        "timeout",
        `The server took what this client said and does not answer it (${seconds} s)`,
        { peerAnswered: true },
      );
    default:
      return new NetworkFault("timeout", `The server did not send its options in ${seconds} s (no PUSH_REPLY)`, {
        peerAnswered: true,
        hint: "It may still be waiting for an external check of the login",
      });
  }
}

function silentAfter({ hasCertificate, hasLogin }: SilenceContext): string {
  const said = [...(hasCertificate ? ["certificate"] : []), ...(hasLogin ? ["login"] : [])].join(" and ");
  return said === ""
    ? "The server is silent since the TLS handshake: it wants a certificate or a login, and the profile has neither"
    : `The server is silent since it was shown this client's ${said}: it refuses it, or wants what the profile does not have`;
}

/** That the server is alive after all, and it is this client that it does not talk to. */
export function refusedSilently(silence: NetworkFault): NetworkFault {
  return new NetworkFault("auth-failed", silence.message, {
    peerAnswered: true,
    hint: "OpenVPN servers drop clients that they refuse without a word; a new session was answered at once. Look at the server's log",
  });
}

/** The end of a TCP connection. */
export function faultOfEnd(error: Error, stage: Stage, protection: ProtectionKeys["kind"]): Error {
  // We closed it, and say why.
  if (error instanceof NetworkFault) return error;
  if (stage === "reset") {
    if (protection === "none") {
      return new NetworkFault("closed", "The server closed the connection after the first packet", {
        hint: "It may want tls-auth or tls-crypt, which the profile does not have, or be another service",
        cause: error,
      });
    }
    return new NetworkFault(
      "misconfigured",
      `The server closed the connection after the first packet: the ${protection} key is another one than the server's`,
      {
        peerAnswered: true,
        hint:
          protection === "tls-auth"
            ? "key-direction and auth must fit the server's too"
            : "Or the server has another protection, or none",
        cause: error,
      },
    );
  }
  if (stage === "certificates" || stage === "keys") {
    return new NetworkFault(
      "auth-failed",
      "The server closed the connection when it had seen this client's certificate and login",
      {
        peerAnswered: true,
        hint: "It refuses them, or wants what the profile does not have. Look at the server's log",
        cause: error,
      },
    );
  }
  return new NetworkFault("closed", "The server closed the connection during the handshake", {
    peerAnswered: true,
    cause: error,
  });
}

/** Errors of our own side of TLS, and alerts. */
export function faultOfTls(error: Error, stage: Stage): Error {
  if (error instanceof NetworkFault) return error;
  const code = "code" in error ? String(error.code) : "";
  const alert = code.split("_ALERT_")[1]?.toLowerCase().replaceAll("_", " ");
  if (alert !== undefined && /certificate|unknown ca/.test(alert)) {
    return new NetworkFault("cert-invalid", `The server refused this client's certificate: ${alert}`, {
      peerAnswered: true,
      cause: error,
    });
  }
  if (alert !== undefined && /version|handshake failure|insufficient security/.test(alert)) {
    return new NetworkFault(
      "misconfigured",
      `The server and this profile have no TLS version or cipher in common: ${alert}`,
      { peerAnswered: true, cause: error },
    );
  }
  if (/UNSUPPORTED_PROTOCOL|NO_CIPHERS|WRONG_SSL_VERSION/.test(code)) {
    return new NetworkFault("misconfigured", "The server's TLS version is not one of those that the profile allows", {
      peerAnswered: true,
      cause: error,
    });
  }
  if (code === "")
    return new NetworkFault(
      "closed",
      `The server ended TLS${stage === "options" ? " before it sent its options" : ""}`,
      { peerAnswered: true, cause: error },
    );
  return error;
}

export function untrusted(code: string, certificate: X509Certificate): NetworkFault {
  const words = classifyCode(code, "handshake")?.message ?? `The certificate is not valid (${code})`;
  const date =
    code === "CERT_HAS_EXPIRED"
      ? `: ${certificate.validTo}`
      : code === "CERT_NOT_YET_VALID"
        ? `: ${certificate.validFrom}`
        : "";
  return new NetworkFault("cert-invalid", `${words}${date}`, {
    peerAnswered: true,
    peer: commonName(certificate.raw)?.toString() ?? "",
    hint: "The server's certificate is judged by the profile's <ca> alone",
  });
}

/** Texts that mean that the two ends do not fit, not that the login is wrong. */
const MISFIT = /negotiation failed|incompatible|not supported|missing DATA_V2/i;

export interface TextContext {
  /** Never repeated. */
  readonly secrets: readonly string[];
  readonly hasCipherAlone: boolean;
}

export function faultOfText(
  text: Exclude<ControlText, { kind: "push-reply" | "other" }>,
  context: TextContext,
): NetworkFault {
  switch (text.kind) {
    case "auth-failed":
      return faultOfRefusal(text.reason, context);
    case "interactive": {
      const what = withoutSecrets(text.what, context.secrets);
      return new NetworkFault(
        "auth-failed",
        "The server wants a second factor or a login in a browser, which a checker cannot give (interactive_required)",
        {
          peerAnswered: true,
          ...(what !== "" && { peer: what }),
          hint: "Give the checker an account that needs none",
        },
      );
    }
    case "restart":
    case "halt": {
      const said = withoutSecrets(text.reason, context.secrets);
      return new NetworkFault("closed", `The server sends this client away (${text.kind.toUpperCase()})`, {
        peerAnswered: true,
        ...(said !== "" && { peer: said }),
      });
    }
  }
}

function faultOfRefusal(reason: string, { secrets, hasCipherAlone }: TextContext): NetworkFault {
  const peer = withoutSecrets(reason, secrets);
  const said = { peerAnswered: true, ...(peer !== "" && { peer }) };
  if (/pending auth method/i.test(reason)) {
    return new NetworkFault(
      "auth-failed",
      "The server wants a login in a browser, which a checker cannot give (interactive_required)",
      said,
    );
  }
  if (MISFIT.test(reason)) {
    return new NetworkFault("misconfigured", "The server and this profile do not fit", {
      ...said,
      hint: hasCipherAlone
        ? "The profile's `cipher` alone is no offer to current servers: add it to data-ciphers"
        : "data-ciphers must have one of the server's",
    });
  }
  if (reason.startsWith("TEMP")) return new NetworkFault("closed", "The server refuses clients for now", said);
  return new NetworkFault("auth-failed", "The server refused this client's login (AUTH_FAILED)", said);
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => (secret === "" ? left : left.replaceAll(secret, "…")), text);
}
