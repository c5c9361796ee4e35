import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../../../testkit/property.ts";
import { ControlChannel } from "./control-channel.ts";
import { type ControlPacket, decodeControl, encodeControlBody, encodeControlHeader, OPCODE } from "./packet.ts";
import { createProtection, type Protection, type ProtectionKeys } from "./protection.ts";
import { RECORDED } from "./recorded.suite.ts";
import { keyBlockOf, parseClientKeyV2 } from "./static-key.ts";

const SESSION_ID = Buffer.alloc(8, 0xc1);
const SERVER_ID = Buffer.alloc(8, 0x5e);
const NOTHING = Buffer.alloc(0);
const none = createProtection({ kind: "none" });

function open(keys: ProtectionKeys = { kind: "none" }, isStream = false): ControlChannel {
  const channel = new ControlChannel({ protection: createProtection(keys), sessionId: SESSION_ID, isStream });
  channel.open();
  return channel;
}

function read(packet: Buffer | undefined, protection: Protection = none): ControlPacket {
  const opened = protection.open(packet ?? expect.fail("no packet")) ?? expect.fail("not opened");
  return decodeControl(opened.header, opened.body) ?? expect.fail("not a control packet");
}

interface Said {
  readonly opcode?: number;
  readonly id: number | null;
  readonly payload?: Buffer;
  readonly acks?: readonly number[];
  readonly from?: Buffer;
  readonly to?: Buffer;
}

function server({
  opcode = OPCODE.control,
  id,
  payload = NOTHING,
  acks = [],
  from = SERVER_ID,
  to = SESSION_ID,
}: Said): Buffer {
  const body = encodeControlBody({ acks, remoteSessionId: to, messageId: id, payload });
  return Buffer.concat([encodeControlHeader(opcode, from), body]);
}

const RESET = server({ opcode: OPCODE.serverReset, id: 0, acks: [0] });

describe("the control channel", () => {
  it("begins with a reset, again and again with longer pauses until it is answered", () => {
    const channel = open();
    expect(read(channel.due(0, 0)[0])).toMatchObject({ opcode: OPCODE.clientReset, messageId: 0, acks: [] });
    expect(channel.nextDueMs(0)).toBe(700);
    expect(channel.due(699, 699)).toEqual([]);
    expect(channel.due(700, 700)).toHaveLength(1);
    expect(channel.nextDueMs(700)).toBe(1_050);
    expect(channel.receive(RESET).kind).toBe("reset");
    expect(channel.nextDueMs(700)).toBeNull();
    expect(channel.isAcknowledged).toBe(true);
  });

  it("tells the server's first message with its own first one, also when that is sent again", () => {
    const channel = open();
    channel.due(0, 0);
    channel.receive(RESET);
    expect(channel.acknowledgements(0)).toEqual([]);
    channel.write(Buffer.from("hello"));
    expect(read(channel.due(0, 0)[0])).toMatchObject({ acks: [0], remoteSessionId: SERVER_ID, messageId: 1 });
    expect(read(channel.due(700, 700)[0])).toMatchObject({ acks: [0], messageId: 1, payload: Buffer.from("hello") });
  });

  it("has at most six messages on their way", () => {
    const channel = open();
    channel.due(0, 0);
    channel.receive(RESET);
    channel.write(Buffer.alloc(10_000, 1));
    const first = channel.due(0, 0).map((packet) => read(packet));
    expect(first.map(({ messageId }) => messageId)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(channel.due(1, 1)).toEqual([]);
    channel.receive(server({ opcode: OPCODE.ack, id: null, acks: [2, 3] }));
    const more = channel.due(1, 1).map((packet) => read(packet));
    expect(more.map(({ messageId }) => messageId)).toEqual([7, 8]);
    expect(Math.max(...first.map(({ payload }) => payload.length))).toBeLessThanOrEqual(1_100);
  });

  it("does not hold without end what is written", () => {
    const channel = open();
    const piece = Buffer.alloc(100_000);
    expect([channel.write(piece), channel.write(piece), channel.write(piece)]).toEqual([true, true, false]);
  });

  it("accepts packets only from the server of its session", () => {
    const channel = open();
    channel.due(0, 0);
    expect(channel.receive(server({ id: 0 })).kind).toBe("nothing");
    expect(channel.receive(server({ opcode: OPCODE.serverReset, id: 0, acks: [0], to: SERVER_ID })).kind).toBe(
      "nothing",
    );
    channel.receive(RESET);
    expect(channel.receive(server({ id: 1, from: SESSION_ID })).kind).toBe("nothing");
    expect(channel.receive(server({ id: 1, acks: [0], to: SERVER_ID })).kind).toBe("nothing");
    const renewal = server({ opcode: OPCODE.softReset, id: 0 });
    renewal[0] = (renewal[0] ?? 0) | 1;
    expect(channel.receive(renewal).kind).toBe("soft-reset");
    expect(channel.receive(server({ id: 1, payload: Buffer.from("x") }))).toEqual({
      kind: "bytes",
      bytes: Buffer.from("x"),
    });
  });

  it("hands out what comes in any order, twice or late, once and in order", () => {
    assertProperty(
      fc.property(fc.array(fc.nat(11), { minLength: 12, maxLength: 60 }), (order) => {
        const channel = open();
        channel.due(0, 0);
        channel.receive(RESET);
        const heard: Buffer[] = [];
        for (const at of [...order, ...Array.from({ length: 12 }, (_, index) => index)]) {
          const said = channel.receive(server({ id: at + 1, payload: Buffer.of(at) }));
          if (said.kind === "bytes") heard.push(said.bytes);
        }
        expect(Buffer.concat(heard)).toEqual(Buffer.from(Array.from({ length: 12 }, (_, index) => index)));
      }),
      { numRuns: 2_000 },
    );
  });

  it("does not hold what is further ahead than a server may be", () => {
    const channel = open();
    channel.due(0, 0);
    channel.receive(RESET);
    channel.receive(server({ id: 13, payload: Buffer.alloc(1_000) }));
    expect(channel.waitingAcks).toBe(1);
  });

  it("sends nothing again in a stream", () => {
    const channel = open({ kind: "none" }, true);
    expect(channel.due(0, 0)).toHaveLength(1);
    expect(channel.due(60_000, 60_000)).toEqual([]);
    expect(channel.nextDueMs(0)).toBeNull();
  });
});

describe("tls-crypt-v2", () => {
  const wrapped = Buffer.concat([Buffer.alloc(298, 9), Buffer.of(1, 44)]);
  const file = Buffer.concat([RECORDED.tlsCrypt.staticKey, wrapped]).toString("base64");
  const client = parseClientKeyV2(
    `-----BEGIN OpenVPN tls-crypt-v2 client key-----\n${file}\n-----END OpenVPN tls-crypt-v2 client key-----`,
  );
  const [first, second] = keyBlockOf(RECORDED.tlsCrypt.staticKey);
  const theirs = createProtection({ kind: "tls-crypt", key: [second, first] });

  it.each([
    { flags: 1, opcode: OPCODE.controlWithKey },
    { flags: 0, opcode: OPCODE.control },
  ])("sends its key with the first message, and once more when flags are $flags", ({ flags, opcode }) => {
    const channel = open({ kind: "tls-crypt-v2", client });
    const [reset = NOTHING] = channel.due(0, 0);
    expect(reset.subarray(-wrapped.length)).toEqual(wrapped);
    expect(reset.readUInt32BE(9)).toBe(0x0f00_0000);
    expect(read(reset.subarray(0, -wrapped.length), theirs).opcode).toBe(OPCODE.clientResetV3);
    const plain = none.open(
      server({ opcode: OPCODE.serverReset, id: 0, acks: [0], payload: Buffer.of(0, 1, 0, 2, 0, flags) }),
    );
    channel.receive(theirs.seal(plain?.header ?? NOTHING, plain?.body ?? NOTHING, 0));
    channel.write(Buffer.alloc(1_000, 1));
    const [hello = NOTHING, rest] = channel.due(0, 0);
    expect(hello.length).toBeLessThan(1_250);
    expect(hello.readUInt8(0) >>> 3).toBe(opcode);
    if (flags === 1) {
      expect(hello.subarray(-wrapped.length)).toEqual(wrapped);
      expect(read(rest, theirs).opcode).toBe(OPCODE.control);
    }
  });
});
