import { randomBytes, X509Certificate } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../../demo/certificates.ts";
import { Gateway, type GatewayBehavior, type LoginServer } from "../../../demo/tunnels/ikev2-gateway.ts";
import { Random } from "../../../testkit/random.ts";
import { AES_256_GCM, GROUP, PRF_SHA256 } from "./algorithms.ts";
import type { Child } from "./child.ts";
import type { Login, TlsFlight } from "./eap.ts";
import type { Heard, Request } from "./ike-sa.ts";
import { Initiator, type TlsTurn } from "./initiator.ts";
import { EXCHANGE, encodeMessage, type NewPayload } from "./message.ts";
import { NOTIFY, notify } from "./notify.ts";
import { createAnchors } from "./trust.ts";

const KEY = "the key of this test";
const LOGIN = { username: "alice", password: "the password of alice" };
const BY_CERTIFICATE: Login = { username: "alice", password: null };
const authority = makeAuthority();
const certificate = makeCertificate({ commonName: "gw", names: ["gw.test"], issuer: authority });
const anchors = createAnchors([authority.certPem]);
/** None that we send first. */
const suite = { encryption: AES_256_GCM, integrity: null, prf: PRF_SHA256, group: GROUP.p384 };

function initiatorOf(login: Login | null): Initiator {
  return new Initiator(
    {
      identity: () => ({ type: 2, data: Buffer.from("client.test") }),
      wantedIdentity: null,
      gateway: "gw.test",
      login,
      certificate: null,
      sharedKey: login === null ? KEY : null,
      anchors: () => anchors,
      remote: { address: Buffer.alloc(4), port: 500 },
    },
    { randomBytes, wallNowMs: () => Date.now() },
  );
}

/** A path that has kept every datagram of both sides, and delivers all of them again at each step, in any order. */
class ForgetfulPath {
  readonly #gateway: Gateway;
  readonly #random: Random;
  readonly #requests: Buffer[] = [];
  readonly #replies: Buffer[] = [];

  constructor(gateway: Gateway, seed: number) {
    this.#gateway = gateway;
    this.#random = new Random(seed);
  }

  /** @returns what the client hears: replies old and new, and its own words */
  carry(datagrams: readonly Buffer[]): readonly Buffer[] {
    this.#requests.push(...datagrams);
    for (const request of this.#shuffled(this.#requests)) this.#replies.push(...this.#gateway.answer(request));
    return this.#shuffled([...this.#replies, ...this.#requests]);
  }

  #shuffled(all: readonly Buffer[]): readonly Buffer[] {
    return all
      .map((datagram) => ({ datagram, at: this.#random.next() }))
      .sort((one, other) => one.at - other.at)
      .map(({ datagram }) => datagram);
  }
}

/** Stands for TLS: flights of some length in both directions, and a key when both have spoken twice. */
const TLS_KEY = Buffer.alloc(64, 0x66);

function loginServer(): LoginServer {
  let turns = 0;
  return {
    turn(records, done) {
      expect(records).toEqual(Buffer.alloc(2_345, ++turns));
      done({ records: Buffer.alloc(turns * 1_717, turns), masterSessionKey: turns === 2 ? TLS_KEY : null });
    },
  };
}

function tlsClient(): (turn: TlsTurn) => TlsFlight {
  let turns = 0;
  const { raw } = new X509Certificate(certificate.certPem);
  return ({ records }) => {
    expect(records).toEqual(Buffer.alloc(turns * 1_717, turns));
    const isUp = ++turns === 3;
    return {
      kind: "flight",
      records: isUp ? Buffer.alloc(0) : Buffer.alloc(2_345, turns),
      secured: isUp ? { masterSessionKey: TLS_KEY, chain: [raw] } : null,
    };
  };
}

function comeUp(manners: GatewayBehavior, login: Login | null, seed: number): Child {
  const initiator = initiatorOf(login);
  const path = new ForgetfulPath(new Gateway(manners), seed);
  const tls = tlsClient();
  const talk = initiator.open();
  let step = talk.next();
  while (!step.done) {
    if (step.value.stage === "tls") {
      step = talk.next(tls(step.value));
      continue;
    }
    const asked: Request = step.value;
    for (const datagram of path.carry(asked.datagrams)) {
      const heard = initiator.hear(datagram);
      if (heard.kind !== "answer") continue;
      if (step.done || step.value !== asked) expect.fail("an answer to nothing that was asked");
      step = talk.next(heard);
      // The path goes on delivering while TLS is at work.
      if (!step.done && step.value.stage === "tls") step = talk.next(tls(step.value));
    }
    if (!step.done && step.value === asked) expect.fail("no answer was recognised");
  }
  return step.value;
}

describe("a path that repeats and reorders everything that was ever said", () => {
  it.each<readonly [string, GatewayBehavior, Login | null]>([
    ["a pre-shared key", { sharedKey: KEY }, null],
    ["another group and a cookie", { sharedKey: KEY, suite, asksForCookie: true }, null],
    ["answers in fragments", { sharedKey: KEY, isVerbose: true }, null],
    [
      "a login in fragments, another group, a cookie",
      { login: LOGIN, certificate, isVerbose: true, suite, asksForCookie: true },
      LOGIN,
    ],
    ["a login by certificate", { loginServer, certificate }, BY_CERTIFICATE],
    [
      "a login by certificate in many pieces, which alone proves the gateway",
      { loginServer, certificate, pieceBytes: 400, hidesProof: true },
      BY_CERTIFICATE,
    ],
  ])("does not keep a tunnel from coming up: %s", (_name, manners, login) => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(comeUp(manners, login, seed).addresses).toHaveLength(1);
      }),
      { numRuns: 12 },
    );
  });
});

describe("an answer to a first message", () => {
  function asking() {
    const initiator = initiatorOf(null);
    const talk = initiator.open();
    const first = talk.next();
    const [request = Buffer.alloc(0)] = first.done || first.value.stage === "tls" ? [] : first.value.datagrams;
    const wishing = (...wishes: readonly NewPayload[]): Buffer => {
      const header = { initiatorSpi: request.subarray(0, 8), responderSpi: Buffer.alloc(8), messageId: 0 };
      return encodeMessage({ ...header, exchange: EXCHANGE.init, isFromInitiator: false, isResponse: true }, wishes);
    };
    /** Goes on where it is new. */
    const hear = (datagram: Buffer): Heard["kind"] => {
      const heard = initiator.hear(datagram);
      if (heard.kind === "answer") talk.next(heard);
      return heard.kind;
    };
    return {
      request,
      hear,
      wishing,
      group: (id: number) => wishing(notify(NOTIFY.invalidKePayload, Buffer.from([0, id]))),
    };
  }

  it("that names the group which it has been given since is a repetition", () => {
    const { hear, group } = asking();
    expect(hear(group(GROUP.p384))).toBe("answer");
    expect(hear(group(GROUP.p384))).toBe("repeated");
    expect(hear(group(GROUP.x25519))).toBe("answer");
    expect(hear(group(GROUP.p384))).toBe("repeated");
  });

  it("with a cookie that it has been given since is a repetition, with another one it is not", () => {
    const { hear, wishing, group } = asking();
    const cookie = (text: string): Buffer => wishing(notify(NOTIFY.cookie, Buffer.from(text)));
    expect(hear(cookie("one"))).toBe("answer");
    expect(hear(cookie("one"))).toBe("repeated");
    expect(hear(group(GROUP.p384))).toBe("answer");
    expect(hear(cookie("one"))).toBe("repeated");
    expect(hear(cookie("two"))).toBe("answer");
    expect(hear(cookie("one"))).toBe("repeated");
    expect(hear(group(GROUP.p384))).toBe("repeated");
  });

  it("that goes on with the group of an earlier message answers that one", () => {
    const { request, hear, group } = asking();
    const [late = Buffer.alloc(0)] = new Gateway({ sharedKey: KEY }).answer(request);
    expect(hear(group(GROUP.p384))).toBe("answer");
    expect(hear(late)).toBe("repeated");
  });

  it("is none when it is our own message", () => {
    const { request, hear } = asking();
    expect(hear(request)).toBe("ignored");
  });

  it("that names the group which came first is no repetition, and ends it", () => {
    const { hear, group } = asking();
    expect(() => hear(group(GROUP.p256))).toThrow(/group 19/);
  });
});
