import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { AES_256_GCM, GROUP, PRF_SHA256 } from "./algorithms.ts";
import { DELETE_IKE_SA } from "./bodies.ts";
import { IkeSa } from "./ike-sa.ts";
import { deriveIkeKeys } from "./keys.ts";
import { EXCHANGE, type NewPayload, PAYLOAD } from "./message.ts";
import { isError, notifiesOf } from "./notify.ts";
import { Opener, Sealer } from "./sealed.ts";

const spis = { initiatorSpi: Buffer.from("initiate"), responderSpi: Buffer.from("responds") };
const suite = { encryption: AES_256_GCM, integrity: null, prf: PRF_SHA256, group: GROUP.p256 };
const keys = deriveIkeKeys(suite, {
  sharedSecret: Buffer.alloc(32, 1),
  initiatorNonce: Buffer.alloc(32, 2),
  responderNonce: Buffer.alloc(32, 3),
  ...spis,
});

/** Comes in several fragments. */
const LONG: readonly NewPayload[] = [{ type: PAYLOAD.vendor, body: Buffer.alloc(3_000, 7) }];

function rig() {
  const sa = new IkeSa(keys, spis, randomBytes, true);
  const sealer = new Sealer(keys.fromResponder, randomBytes);
  const say = (
    exchange: number,
    messageId: number,
    isResponse: boolean,
    payloads: readonly NewPayload[] = [],
  ): Buffer =>
    sealer.seal({ ...spis, exchange, messageId, isResponse, isFromInitiator: false }, payloads, false)[0] ??
    Buffer.alloc(0);
  const pieces = (exchange: number, messageId: number, isResponse: boolean): readonly Buffer[] =>
    sealer.seal({ ...spis, exchange, messageId, isResponse, isFromInitiator: false }, LONG, true);
  return { sa, say, pieces, read: new Opener(keys.fromInitiator) };
}

describe("an IKE SA", () => {
  it("takes the answer to its request once, and no other", () => {
    const { sa, say } = rig();
    const request = sa.request(EXCHANGE.auth, "auth", []);
    expect(request.datagrams).toHaveLength(1);
    expect(sa.hear(request.datagrams[0] ?? Buffer.alloc(0)).kind).toBe("ignored");
    expect(sa.hear(say(EXCHANGE.auth, 0, true)).kind).toBe("ignored");
    expect(sa.hear(say(EXCHANGE.auth, 2, true)).kind).toBe("ignored");
    expect(sa.hear(say(EXCHANGE.informational, 1, true)).kind).toBe("ignored");
    const answer = say(EXCHANGE.auth, 1, true);
    expect(sa.hear(answer).kind).toBe("answer");
    expect(sa.hear(answer).kind).toBe("ignored");
    sa.request(EXCHANGE.auth, "auth", []);
    expect(sa.hear(answer).kind).toBe("ignored");
  });

  it("gathers an answer's fragments while others of earlier answers and of a request come between them", () => {
    const { sa, pieces, say } = rig();
    const [oldFirst, ...old] = pieces(EXCHANGE.auth, 1, true);
    sa.request(EXCHANGE.auth, "auth", []);
    const heard = [oldFirst, ...old].map((piece) => sa.hear(piece ?? Buffer.alloc(0)).kind);
    expect(heard).toEqual([...old.map(() => "ignored"), "answer"]);
    sa.request(EXCHANGE.auth, "auth", []);
    const answer = pieces(EXCHANGE.auth, 2, true);
    const asked = pieces(EXCHANGE.informational, 0, false);
    const kinds = answer.flatMap((piece, index) =>
      [oldFirst, asked[index], say(EXCHANGE.auth, 1, true), piece].map((each) => sa.hear(each ?? Buffer.alloc(0)).kind),
    );
    expect(kinds.filter((kind) => kind !== "ignored")).toEqual(["request", "answer"]);
    expect(kinds.at(-1)).toBe("answer");
  });

  it("answers the gateway's own requests, a repeated one with the same bytes", () => {
    const { sa, say, read } = rig();
    const alive = say(EXCHANGE.informational, 0, false);
    const heard = sa.hear(alive);
    expect(heard).toMatchObject({ kind: "request", isOver: false });
    expect(sa.hear(alive)).toEqual(heard);
    const [reply = Buffer.alloc(0)] = heard.kind === "request" ? heard.reply : [];
    expect(read.open(reply)).toMatchObject({ header: { isResponse: true, messageId: 0 }, payloads: [] });
    expect(sa.hear(say(EXCHANGE.informational, 5, false)).kind).toBe("ignored");
    expect(sa.hear(say(EXCHANGE.informational, 1, false)).kind).toBe("request");
    expect(sa.hear(alive).kind).toBe("ignored");
  });

  it("refuses every request for new keys, and sees a Delete", () => {
    const { sa, say, read } = rig();
    const heard = sa.hear(say(EXCHANGE.child, 0, false));
    const [reply = Buffer.alloc(0)] = heard.kind === "request" ? heard.reply : [];
    expect(notifiesOf(read.open(reply)?.payloads ?? []).some(isError)).toBe(true);
    const farewell = say(EXCHANGE.informational, 1, false, [{ type: PAYLOAD.delete, body: DELETE_IKE_SA }]);
    expect(sa.hear(farewell)).toMatchObject({ kind: "request", isOver: true });
  });
});
