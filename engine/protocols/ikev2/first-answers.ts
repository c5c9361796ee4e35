/**
 * Which answers to IKE_SA_INIT are new. All have message id 0 and the request's SPI, whichever of our first messages they answer (RFC 7296
 * section 2.1), and a path may repeat or delay them. So an answer is known by what it wants, and what was granted once is wanted by a repetition.
 * Pure.
 */
import { decodeKeyExchange } from "./bodies.ts";
import { bodyOf, PAYLOAD, type Payload } from "./message.ts";
import { NOTIFY, type Notify, notifiesOf } from "./notify.ts";

/** What a gateway wants to have in another first message: its cookie, or a key of another group. */
export type Wish =
  | { readonly kind: "cookie"; readonly cookie: Buffer }
  | { readonly kind: "group"; readonly group: number; readonly notify: Notify };

/** @returns undefined for an answer that goes on, or ends it. @throws IkeFormatError */
export function wishOf(payloads: readonly Payload[]): Wish | undefined {
  const notifies = notifiesOf(payloads);
  const asked = notifies.find(({ type }) => type === NOTIFY.cookie);
  if (asked !== undefined) return { kind: "cookie", cookie: asked.data };
  const notify = notifies.find(({ type }) => type === NOTIFY.invalidKePayload);
  if (notify === undefined) return undefined;
  return { kind: "group", group: notify.data.length === 2 ? notify.data.readUInt16BE(0) : 0, notify };
}

export class FirstAnswers {
  readonly #granted = new Set<string>();
  /** Of our first messages, the present one's last. */
  readonly #groups: number[] = [];

  /** A first message with a key of this group goes out. */
  sends(group: number): void {
    this.#groups.push(group);
  }

  grant(wish: Wish): void {
    this.#granted.add(nameOf(wish));
  }

  /** Whether it repeats an earlier answer, or answers a message before the present one. @throws IkeFormatError */
  isOld(payloads: readonly Payload[]): boolean {
    const wish = wishOf(payloads);
    if (wish !== undefined) return this.#granted.has(nameOf(wish));
    const key = bodyOf(payloads, PAYLOAD.ke);
    if (key === undefined) return false;
    const { group } = decodeKeyExchange(key);
    return group !== this.#groups.at(-1) && this.#groups.includes(group);
  }
}

function nameOf(wish: Wish): string {
  return wish.kind === "cookie" ? `cookie ${wish.cookie.toString("hex")}` : `group ${wish.group}`;
}
