/** Credentials, keys and certificates of the proxy lab. Each credential says what it is, so that one which leaks can be named. */
import { createHash, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { generateX25519 } from "../../testkit/x25519.ts";
import { type Authority, createAuthority } from "./certificates.ts";

/** Of every protocol. The lab's servers know those that are not called wrong. */
export const SECRETS = {
  vless: "5ec2e701-0a11-4bad-8c0d-76a1e55aaa01",
  vision: "5ec2e702-0a11-4bad-8c0d-76a1e55aaa02",
  vmess: "5ec2e703-0a11-4bad-8c0d-76a1e55aaa03",
  tuic: "5ec2e704-0a11-4bad-8c0d-76a1e55aaa04",
  trojan: "lab-secret-of-trojan",
  shadowsocks: "lab-secret-of-shadowsocks",
  ss2022Server128: key("lab-secret-2022-server", 16),
  ss2022User128: key("lab-secret-2022-user", 16),
  ss2022Other128: key("lab-secret-2022-other", 16),
  ss2022Server256: key("lab-secret-2022-server-long", 32),
  ss2022User256: key("lab-secret-2022-user-long", 32),
  hysteria2: "lab-secret-of-hysteria2",
  salamander: "lab-secret-of-salamander",
  tuicPassword: "lab-secret-of-tuic",
  shortId: "5ec2e7f10a11bad1",
  wrongUuid: "5ec2e7ff-0a11-4bad-8c0d-76a1e55aaaff",
  wrongPassword: "lab-secret-that-is-wrong",
  wrongKey128: key("lab-secret-2022-wrong", 16),
  wrongKey256: key("lab-secret-2022-wrong-long", 32),
  wrongShortId: "5ec2e7f10a11bad2",
} as const;

function key(text: string, sizeBytes: number): string {
  return createHash("sha256").update(text).digest().subarray(0, sizeBytes).toString("base64");
}

/** The name that the lab's certificates are for. */
export const NAME = "lab.test";

/** The name that the lab's resolver knows. */
export const SERVER_NAME = "server.lab.test";

export type CertificateName = "good" | "expired" | "other" | "selfsigned";

export interface Material {
  readonly folder: string;
  readonly authority: Authority;
  /** PEM, in lines as xray and sing-box take them. */
  certificate(name: CertificateName): { readonly certificate: readonly string[]; readonly key: readonly string[] };
  /** SHA-256 of the certificate's DER, hex. */
  pin(name: CertificateName): string;
  readonly reality: { readonly privateKey: string; readonly publicKey: string; readonly otherPublicKey: string };
  /** In base64: what a client and the server have, and a client's of another server. */
  readonly ech: { readonly configList: string; readonly serverKeys: string; readonly otherConfigList: string };
}

export function makeMaterial(folder: string): Material {
  const authority = createAuthority(folder, "lab");
  authority.issue("good", `DNS:${NAME},DNS:localhost,IP:127.0.0.1,IP:::1`);
  authority.issue("expired", `DNS:${NAME},IP:127.0.0.1`, { days: -1 });
  authority.issue("other", "DNS:other.test");
  // No client trusts this one's issuer.
  createAuthority(folder, "untrusted").issue("selfsigned", `DNS:${NAME},IP:127.0.0.1`);
  const lines = (file: string): readonly string[] => readFileSync(join(folder, file), "utf8").trim().split("\n");
  const { privateKey, publicKey } = x25519();
  return {
    folder,
    authority,
    certificate: (name) => ({ certificate: lines(`${name}.crt`), key: lines(`${name}.key`) }),
    pin: (name) =>
      createHash("sha256")
        .update(new X509Certificate(readFileSync(join(folder, `${name}.crt`))).raw)
        .digest("hex"),
    reality: { privateKey, publicKey, otherPublicKey: x25519().publicKey },
    ech: echOf(x25519(), x25519().publicKey),
  };
}

/** RFC 9849, section 4: ECHConfigList of one config; beside it the form in which both programs keep a key with its config. */
function echOf(pair: { privateKey: string; publicKey: string }, otherKey: string): Material["ech"] {
  const framed = (bytes: Buffer): Buffer => {
    const size = Buffer.alloc(2);
    size.writeUInt16BE(bytes.length);
    return Buffer.concat([size, bytes]);
  };
  // Config id 0, DHKEM(X25519), HKDF-SHA256 with AES-128-GCM, any length of a name, no extensions.
  const configOf = (publicKey: string): Buffer => {
    const contents = Buffer.concat([
      Buffer.from([0, 0, 0x20]),
      framed(Buffer.from(publicKey, "base64url")),
      framed(Buffer.from([0, 1, 0, 1])),
      Buffer.from([0, NAME.length]),
      Buffer.from(NAME),
      Buffer.from([0, 0]),
    ]);
    return Buffer.concat([Buffer.from([0xfe, 0x0d]), framed(contents)]);
  };
  const config = configOf(pair.publicKey);
  const keys = Buffer.concat([framed(Buffer.from(pair.privateKey, "base64url")), framed(config)]);
  return {
    configList: framed(config).toString("base64"),
    serverKeys: keys.toString("base64"),
    otherConfigList: framed(configOf(otherKey)).toString("base64"),
  };
}

function x25519(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateX25519();
  return { privateKey: privateKey.toString("base64url"), publicKey: publicKey.toString("base64url") };
}
