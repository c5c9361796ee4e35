/** What is said on the control channel behind key method 2: texts ended by NUL (openvpn push.c, auth_token, doc/management-notes.txt). Pure. */
import { before } from "../../../model/text.ts";
import { addressBytes } from "../inner/packet.ts";

export const PUSH_REQUEST = Buffer.from("PUSH_REQUEST\0");
export const EXIT = Buffer.from("EXIT\0");

/** A whole reply of a server with hundreds of routes is a few dozen kB. */
const MAX_TEXT_BYTES = 262_144;
const MAX_OPTIONS = 10_000;

export type ControlText =
  | { readonly kind: "push-reply"; readonly options: readonly string[] }
  | { readonly kind: "auth-failed"; readonly reason: string }
  /** The user must do something: open a page, type a code. */
  | { readonly kind: "interactive"; readonly what: string }
  | { readonly kind: "restart" | "halt"; readonly reason: string }
  | { readonly kind: "other" };

/** The peer sends more than any server has to say. */
export class ControlTextError extends Error {
  override readonly name = "ControlTextError";
}

/** Cuts the channel into texts, whatever records they come in, and joins replies that come in parts. */
export class ControlTextReader {
  #rest = "";
  #pushed: string[] = [];

  /** @throws ControlTextError */
  push(bytes: Buffer): readonly ControlText[] {
    const texts = (this.#rest + bytes.toString("latin1")).split("\0");
    this.#rest = texts.pop() ?? "";
    if (this.#rest.length > MAX_TEXT_BYTES) throw new ControlTextError("a control message has no end");
    return texts.map((text) => this.#read(Buffer.from(text, "latin1").toString("utf8").trim()));
  }

  #read(text: string): ControlText {
    const [word = "", ...rest] = text.split(",");
    const reason = rest.join(",").trim();
    switch (word.trim()) {
      case "PUSH_REPLY":
        return this.#pushReply(rest);
      case "AUTH_FAILED":
        return reason.startsWith("CRV1:")
          ? { kind: "interactive", what: reason.split(":").slice(4).join(":") }
          : { kind: "auth-failed", reason };
      case "INFO_PRE":
      case "INFO":
        return interactive(reason);
      case "AUTH_PENDING":
        return { kind: "interactive", what: "" };
      case "RESTART":
        return { kind: "restart", reason };
      case "HALT":
        return { kind: "halt", reason };
      default:
        return { kind: "other" };
    }
  }

  #pushReply(options: readonly string[]): ControlText {
    if (this.#pushed.length + options.length > MAX_OPTIONS) throw new ControlTextError("too many options are pushed");
    this.#pushed.push(...options.map((option) => option.trim()));
    if (this.#pushed.findLast((option) => option.startsWith("push-continuation ")) === "push-continuation 2") {
      this.#pushed = this.#pushed.filter((option) => !option.startsWith("push-continuation "));
      return { kind: "other" };
    }
    return { kind: "push-reply", options: this.#pushed };
  }
}

/** Pages that people log in at are named by kind only: their address is a key to the session. */
function interactive(reason: string): ControlText {
  if (/^(?:WEB_AUTH|OPEN_URL):/.test(reason)) return { kind: "interactive", what: "a page to log in at" };
  return reason.startsWith("CR_TEXT:")
    ? { kind: "interactive", what: reason.split(":").slice(2).join(":") }
    : { kind: "other" };
}

export interface Pushed {
  /** Own addresses in the tunnel, as texts. */
  readonly addresses: readonly string[];
  readonly dns: readonly string[];
  readonly mtuBytes: number | null;
  readonly peerId: number | null;
  readonly cipher: string | null;
  readonly isKeyExported: boolean;
  readonly isEpoch: boolean;
  readonly takesExit: boolean;
  /** As `comp-lzo` or `compress` say it, with the algorithm; null: not pushed. */
  readonly compression: Compression | null;
}

/** How payloads are marked as not compressed: not at all, with a byte before them, with a byte swapped in, or only where they could be mistaken. */
export type Compression = "none" | "lzo" | "swap" | "v2";

const NO_PEER = 0xff_ffff;

export function readPushed(options: readonly string[]): Pushed {
  const lines = options.map((option) => option.split(/\s+/));
  const last = (name: string): readonly string[] | undefined => lines.findLast(([word]) => word === name)?.slice(1);
  const flags = new Set(lines.filter(([word]) => word === "protocol-flags").flatMap(([, ...words]) => words));
  const peerId = Number(last("peer-id")?.[0] ?? Number.NaN);
  const mtuBytes = Number(last("tun-mtu")?.[0] ?? Number.NaN);
  return {
    addresses: [last("ifconfig")?.[0], before(last("ifconfig-ipv6")?.[0] ?? "", "/") || undefined].flatMap(literal),
    dns: lines.flatMap(dnsOf).flatMap(literal),
    mtuBytes: Number.isInteger(mtuBytes) && mtuBytes >= 576 && mtuBytes <= 65_535 ? mtuBytes : null,
    peerId: Number.isInteger(peerId) && peerId >= 0 && peerId < NO_PEER ? peerId : null,
    cipher: last("cipher")?.[0] ?? null,
    isKeyExported: flags.has("tls-ekm") || last("key-derivation")?.[0] === "tls-ekm",
    isEpoch: flags.has("aead-epoch"),
    takesExit: flags.has("cc-exit"),
    compression: compressionOf(last("compress"), last("comp-lzo")),
  };
}

/** `dhcp-option DNS a`, `dhcp-option DNS6 a`, `dns server n address a …`. */
function dnsOf([word, first, ...rest]: readonly string[]): readonly (string | undefined)[] {
  if (word === "dhcp-option") return first === "DNS" || first === "DNS6" ? [rest[0]] : [];
  return word === "dns" && first === "server" && rest[1] === "address"
    ? rest.slice(2).map((text) => text.replace(/^\[(.*)\](?::\d+)?$/, "$1"))
    : [];
}

function literal(text: string | undefined): readonly string[] {
  return text !== undefined && addressBytes(text) !== undefined ? [text] : [];
}

/** openvpn comp.h; null when nothing is said of it. */
export function compressionOf(
  compress: readonly string[] | undefined,
  lzo: readonly string[] | undefined,
): Compression | null {
  if (compress !== undefined) {
    const [algorithm] = compress;
    if (algorithm === "stub-v2" || algorithm === "lz4-v2") return "v2";
    return algorithm === "lzo" ? "lzo" : "swap";
  }
  return lzo === undefined ? null : "lzo";
}
