/** What a probe asks for where a foreign key may take long to open or to use: done in a process of its own, which can be ended. */
import type { OwnVerdict } from "../../model/verdict.ts";

export type ForeignKey =
  /** PKCS #12, without a password. */
  | { readonly kind: "pkcs12"; readonly bytes: Uint8Array }
  /** A private key in PEM, within the bounds of protocols/keys/key-bounds.ts. */
  | { readonly kind: "key"; readonly pem: string };

export interface OpenedKey {
  /** PrivateKeyInfo. */
  readonly keyPem: string;
  /** The key's own first; empty where only a key was given. */
  readonly certificatePems: readonly string[];
}

/** Completes "<field> …" in words for people; never holds anything of the key. */
export interface KeyRefusal {
  readonly verdict: OwnVerdict | "misconfigured";
  readonly words: string;
}

export type KeyAnswer =
  | { readonly type: "opened"; readonly opened: OpenedKey }
  | { readonly type: "refused"; readonly refusal: KeyRefusal };

export interface KeyOpener {
  /** Never rejects; settles within some seconds. The same key is opened once. */
  open(key: ForeignKey): Promise<KeyAnswer>;
}
