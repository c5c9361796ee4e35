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
  return { sa, say, read: new Opener(keys.fromInitiator) };
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

  it("answers the gateway's own requests, a repeated one with the same bytes", () => {
    const { sa, say, read } = rig();
    const alive = say(EXCHANGE.informational, 0, false);
    const heard = sa.hear(alive);
    expect(heard).toMatchObject({ kind: "request", isOver: false });
    expect(sa.hear(alive)).toEqual(heard);
    const [reply = Buffer.alloc(0)] = heard.kind === "request" ? heard.reply : [];
    expect(read.open(reply)).toMatchObject({ header: { isResponse: true, messageId: 0 }, payloads: [] });
    expect(sa.hear(say(EXCHANGE.informational, 5, false)).kind).toBe("ignored");
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
