/** What VPN servers send: IKEv2 and ESP, OpenVPN's channels, the forms and frames of OpenConnect. */
import { isDeepStrictEqual } from "node:util";
import { NetworkFault } from "../../../engine/net/fault.ts";
import { HttpSyntaxError } from "../../../engine/protocols/http/syntax-error.ts";
import { PRF_SHA256 } from "../../../engine/protocols/ikev2/algorithms.ts";
import {
  decodeAuth,
  decodeCertificate,
  decodeConfigurationReply,
  decodeDelete,
  decodeIdentity,
  decodeKeyExchange,
  decodeSelectors,
  encodeAuth,
  encodeIdentity,
  encodeKeyExchange,
} from "../../../engine/protocols/ikev2/bodies.ts";
import { readChild } from "../../../engine/protocols/ikev2/child.ts";
import { decodeEap, EapPeer } from "../../../engine/protocols/ikev2/eap.ts";
import { EspReceiver, EspSender } from "../../../engine/protocols/ikev2/esp.ts";
import {
  CBC_KEYS,
  GCM_KEYS,
  SEEDS as IKE_SEEDS,
  sameBytes,
  waitingInitiator,
} from "../../../engine/protocols/ikev2/foreign-bytes.suite.ts";
import {
  decodeChain,
  decodeHeader,
  encodeChain,
  HEADER_BYTES,
  IkeFormatError,
  PAYLOAD,
} from "../../../engine/protocols/ikev2/message.ts";
import { decodeAnnouncements, decodeHashes, decodeNotify } from "../../../engine/protocols/ikev2/notify.ts";
import {
  chosenChildSuite,
  chosenIkeSuite,
  decodeProposals,
  encodeChildOffer,
  encodeIkeOffer,
  encodeProposals,
} from "../../../engine/protocols/ikev2/proposals.ts";
import { RECORDED as IKE } from "../../../engine/protocols/ikev2/recorded.suite.ts";
import { Opener, Sealer } from "../../../engine/protocols/ikev2/sealed.ts";
import { CookieJar } from "../../../engine/protocols/openconnect/cookies.ts";
import {
  CstpError,
  FrameReader as CstpReader,
  encodeFrame as encodeCstp,
  FRAME,
  reasonOf,
} from "../../../engine/protocols/openconnect/cstp.ts";
import { parseLoginAnswer } from "../../../engine/protocols/openconnect/form.ts";
import { AnswerParser, encodeRequest, type HttpAnswer } from "../../../engine/protocols/openconnect/http.ts";
import { logIn } from "../../../engine/protocols/openconnect/login.ts";
import { parseOffer } from "../../../engine/protocols/openconnect/offer.ts";
import {
  ASA,
  RECORDED as FORMS,
  SEEDS as OPENCONNECT_SEEDS,
} from "../../../engine/protocols/openconnect/recorded.suite.ts";
import { parseXml, XmlError } from "../../../engine/protocols/openconnect/xml.ts";
import { ControlTextError, ControlTextReader, readPushed } from "../../../engine/protocols/openvpn/control-text.ts";
import {
  afterReceiving,
  DATA_CHANNELS,
  SEEDS as OPENVPN_SEEDS,
  SERVER_HELLO,
} from "../../../engine/protocols/openvpn/foreign-bytes.suite.ts";
import { decodeKeyMethod, KeyMethodError } from "../../../engine/protocols/openvpn/key-method.ts";
import {
  CONTROL_HEADER_BYTES,
  decodeControl,
  encodeControlBody,
  encodeFrame,
  OPCODE,
  FrameReader as OpenvpnReader,
} from "../../../engine/protocols/openvpn/packet.ts";
import { type FuzzTarget, must, text, utf8 } from "../target.ts";
import { piecesOf } from "./network.ts";

const BODIES = [IKE.initResponse, IKE.authResponse].flatMap((message) =>
  decodeChain(decodeHeader(message).firstPayload, message.subarray(HEADER_BYTES)).map(({ body }) => body),
);
const INNER = decodeChain(PAYLOAD.idResponder, IKE.authResponseInner);
/** A datagram holds no longer one. */
const LONGEST_PAYLOAD = 60_000;
const OURS = [IkeFormatError, NetworkFault];
const SA_OFFERS = [encodeIkeOffer(), encodeChildOffer(Buffer.alloc(4, 9))];
const SELECTORS = Buffer.from("0200000007000010000000ffff".padEnd(32, "0"), "hex");

function decodedOr<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (OURS.some((ours) => error instanceof ours)) return undefined;
    throw error;
  }
}

/** What one of these decodes is encoded as it was. */
function sameAgain<T>(body: Buffer, decode: (bytes: Buffer) => T, encode: (value: T) => Buffer): string {
  const value = decodedOr(() => decode(body));
  if (value === undefined) return "-";
  must(isDeepStrictEqual(decode(encode(value)), value), `${decode.name}: not the same after encoding`);
  return "+";
}

let waiting = waitingInitiator();

const ikev2: readonly FuzzTarget[] = [
  {
    name: "ikev2 message",
    seeds: IKE_SEEDS,
    words: Object.values(PAYLOAD).map((type) => Buffer.of(type, 0)),
    refusals: [IkeFormatError],
    run(input) {
      // Its length is set right, so that more than the header is looked at.
      if (input.length >= HEADER_BYTES) input.writeUInt32BE(input.length, 24);
      const header = decodeHeader(input);
      const payloads = decodeChain(header.firstPayload, input.subarray(HEADER_BYTES));
      must(payloads.length <= 64, "more payloads than are taken");
      const [first] = payloads;
      const ends = payloads.at(-1)?.type;
      if (first !== undefined && ends !== PAYLOAD.sealed && ends !== PAYLOAD.fragment) {
        const again = decodeChain(first.type, encodeChain(payloads));
        const plain = (list: typeof payloads) => list.map(({ type, body }) => ({ type, body }));
        must(isDeepStrictEqual(plain(again), plain(payloads)), "not the same after encoding");
      }
      return payloads
        .map(({ type }) => type)
        .slice(0, 4)
        .join();
    },
  },
  {
    name: "ikev2 payload bodies",
    seeds: [
      ...BODIES,
      ...INNER.map(({ body }) => body),
      ...SA_OFFERS,
      SELECTORS,
      Buffer.from("0200000000010004c0000201", "hex"),
      Buffer.of(3, 4, 0, 1, 1, 2, 3, 4),
    ],
    run(input) {
      for (const decode of [
        decodeCertificate,
        decodeSelectors,
        decodeConfigurationReply,
        decodeDelete,
        decodeNotify,
        decodeAnnouncements,
        decodeHashes,
        chosenIkeSuite,
        chosenChildSuite,
      ]) {
        decodedOr<unknown>(() => decode(input));
      }
      return [
        sameAgain(input, decodeKeyExchange, encodeKeyExchange),
        sameAgain(input, decodeIdentity, encodeIdentity),
        sameAgain(input, decodeAuth, encodeAuth),
        sameAgain(input, decodeProposals, encodeProposals),
        decodedOr(() => decodeSelectors(input))?.length,
        decodedOr(() => decodeConfigurationReply(input))?.length,
      ].join();
    },
  },
  {
    name: "ikev2 sealed message",
    seeds: IKE_SEEDS,
    longest: LONGEST_PAYLOAD,
    refusals: OURS,
    run(input) {
      const header = decodeHeader(IKE.authResponse);
      let shape = "";
      for (const keys of [GCM_KEYS, CBC_KEYS]) {
        decodedOr(() => new Opener(keys).open(input));
        // What our own peer sealed opens to what it was.
        const sealed = new Sealer(keys, sameBytes).seal(
          header,
          [{ type: PAYLOAD.vendor, body: input }],
          input.length > 900,
        );
        const opener = new Opener(keys);
        const opened = sealed.map((message) => opener.open(message)).at(-1);
        must(opened?.payloads[0]?.body.equals(input) === true, "what came out is not what went in");
        // And what it sealed of a chain that is none ends in a refusal.
        const chain = new Sealer(keys, sameBytes).seal(
          header,
          [{ type: input[0] ?? 0, body: input.subarray(1) }],
          false,
        );
        shape += decodedOr(() => new Opener(keys).open(chain[0] ?? input)) === undefined ? "-" : "+";
      }
      return shape;
    },
  },
  {
    name: "esp",
    seeds: [IKE.espReceived, IKE.espSent, IKE.innerReceived, IKE.innerSent],
    run(input) {
      for (const keys of [GCM_KEYS, CBC_KEYS]) {
        must(new EspReceiver(keys, input.subarray(0, 4)).open(input) === undefined, "opened what was not sealed");
        const inner = new EspReceiver(keys, Buffer.from("abcd")).open(
          new EspSender(keys, Buffer.from("abcd"), sameBytes).seal(input),
        );
        const version = (input[0] ?? 0) >> 4;
        must((inner?.equals(input) ?? false) === (version === 4 || version === 6), "what came out is not what went in");
      }
      return (input[0] ?? 0) >> 4;
    },
  },
  {
    name: "eap",
    longest: LONGEST_PAYLOAD,
    seeds: [
      Buffer.from(`0101001a1a0101001510${"11".repeat(16)}67`, "hex"),
      Buffer.from(`010100160410${"22".repeat(16)}`, "hex"),
      Buffer.from("0101000501", "hex"),
      Buffer.from("03010004", "hex"),
    ],
    refusals: OURS,
    run(input) {
      if (input.length >= 4) input.writeUInt16BE(input.length, 2);
      const packet = decodeEap(input);
      const peer = new EapPeer({ username: "u", password: "p" }, sameBytes);
      peer.step(input);
      peer.step(input);
      return JSON.stringify(packet).length > 0 ? input[0] : 0;
    },
  },
  {
    name: "eap by certificate",
    longest: LONGEST_PAYLOAD,
    seeds: ["0000000c0d16030300020e00", "c000000200160303", "00", "40aabbcc", "80000000030e0000"].map((hex) =>
      Buffer.from(hex, "hex"),
    ),
    refusals: OURS,
    run(input) {
      const peer = new EapPeer({ username: "u", password: null }, sameBytes);
      peer.step(Buffer.of(1, 1, 0, 6, 13, 0x20));
      peer.takeFlight({ kind: "flight", records: Buffer.from("hello"), secured: null });
      // In packets of any lengths, so that flights come in pieces.
      let bytes = 0;
      for (const [index, piece] of piecesOf(input).entries()) {
        const packet = Buffer.concat([Buffer.of(1, index & 0xff, 0, 0, 13), piece]);
        packet.writeUInt16BE(packet.length, 2);
        const step = peer.step(packet);
        if (step.isDone) return "done";
        if (step.reply !== null) continue;
        bytes += step.records.length;
        peer.takeFlight({ kind: "flight", records: step.records, secured: null });
      }
      must(bytes <= input.length, "more than came in");
      return Math.min(4, bytes);
    },
  },
  {
    name: "ikev2 answer to a first message",
    seeds: [IKE.initResponse],
    refusals: OURS,
    cost: 4,
    run(input) {
      const { initiator, talk } = waiting;
      let isWaiting = false;
      try {
        const heard = initiator.hear(input);
        if (heard.kind === "answer") talk.next(heard);
        isWaiting = heard.kind === "ignored";
        return heard.kind;
      } finally {
        if (!isWaiting) waiting = waitingInitiator();
      }
    },
  },
  {
    name: "ikev2 child answer",
    seeds: [IKE.authResponseInner],
    refusals: OURS,
    run(input) {
      const payloads = decodeChain(PAYLOAD.idResponder, input);
      const derive = { prf: PRF_SHA256, key: Buffer.alloc(32, 1), nonces: Buffer.alloc(64, 2) };
      const child = readChild(payloads, Buffer.alloc(4, 9), derive, sameBytes);
      must(child.addresses.length <= 16 && child.dns.length <= 32, "more addresses than are taken note of");
      return `${child.addresses.length} ${child.dns.length} ${child.reaches.length}`;
    },
  },
];

const openvpn: readonly FuzzTarget[] = [
  {
    name: "openvpn control packets",
    seeds: OPENVPN_SEEDS,
    words: Object.values(OPCODE).map((opcode) => Buffer.of(opcode << 3)),
    run(input) {
      let shape = "";
      for (const channel of afterReceiving(input)) {
        must(channel.waitingAcks <= 2 && channel.due(1, 1).length <= 6, "a packet that is answered without bound");
        shape += channel.waitingAcks;
      }
      if (input.length < CONTROL_HEADER_BYTES) return shape;
      const decoded = decodeControl(input.subarray(0, CONTROL_HEADER_BYTES), input.subarray(CONTROL_HEADER_BYTES));
      must((decoded?.acks.length ?? 0) <= input.length / 4, "more acknowledgements than there are bytes");
      if (decoded !== undefined) {
        const again = decodeControl(input.subarray(0, CONTROL_HEADER_BYTES), encodeControlBody(decoded));
        must(isDeepStrictEqual(again, decoded), "not the same after encoding");
      }
      return `${shape} ${decoded?.opcode}`;
    },
  },
  {
    name: "openvpn data packets",
    seeds: OPENVPN_SEEDS,
    run: (input) => DATA_CHANNELS.map((channel) => channel.open(input).kind[0]).join(""),
  },
  {
    name: "openvpn key method",
    seeds: [SERVER_HELLO, Buffer.concat([SERVER_HELLO, Buffer.of(0, 1, 0, 0, 0), Buffer.from("PUSH_REPLY,a\0")])],
    refusals: [KeyMethodError],
    run(input) {
      const hello = decodeKeyMethod(input);
      must((hello?.sizeBytes ?? 0) <= input.length, "longer than it is");
      return hello === undefined ? "more" : hello.options.length > 0 ? "options" : "none";
    },
  },
  {
    name: "openvpn frames of a stream",
    seeds: OPENVPN_SEEDS.map((packet) => encodeFrame(packet)),
    run(input) {
      const whole = new OpenvpnReader().push(input).map((packet) => packet.toString("hex"));
      const reader = new OpenvpnReader();
      const pieced = piecesOf(input).flatMap((piece) => reader.push(piece).map((packet) => packet.toString("hex")));
      must(isDeepStrictEqual(whole, pieced), "pieces are read otherwise");
      return Math.min(4, whole.length);
    },
  },
  {
    name: "openvpn control texts",
    seeds: utf8(
      "PUSH_REPLY,route 10.0.0.0 255.0.0.0,dhcp-option DNS 1.1.1.1,dhcp-option DNS6 fd00::1,ifconfig 10.8.0.6 10.8.0.5,ifconfig-ipv6 fd00::2/64 fd00::1,peer-id 3,cipher AES-256-GCM,protocol-flags cc-exit tls-ekm\0",
      "PUSH_REPLY,a,push-continuation 2\0PUSH_REPLY,b,push-continuation 1\0",
      "AUTH_FAILED,CRV1:R,E:id:dXNlcg==:Type your code\0",
      "INFO_PRE,WEB_AUTH::https://a.test-site.org\0RESTART,later\0HALT\0",
      "PUSH_REPLY,dns server 1 address 1.1.1.1 [fd00::1]:53,compress lz4-v2,auth-token abc\0",
    ),
    words: [
      "PUSH_REPLY,",
      "AUTH_FAILED,",
      "push-continuation 2",
      "\0",
      ",",
      "ifconfig ",
      "peer-id ",
      "dhcp-option DNS ",
      "CR_TEXT:E:",
    ],
    refusals: [ControlTextError],
    longest: 512 * 1024,
    run(input) {
      const reader = new ControlTextReader();
      let shape = "";
      for (const piece of piecesOf(input)) {
        for (const one of reader.push(piece)) {
          if (shape.length < 60) shape += one.kind;
          if (one.kind !== "push-reply") continue;
          const pushed = readPushed(one.options);
          must(pushed.addresses.length <= 2, "more addresses than families");
        }
      }
      return shape;
    },
  },
];

const XML_WORDS =
  "<|</|>|/>|<auth|<form|<input |<select |<option |name=|\"|'|<![CDATA[|]]>|<!--|-->|<?|&#x110000;|&amp;|&#0;|&#xd800;|<!DOCTYPE a|STF\u0001|\r\n|HTTP/1.1 200 |Set-Cookie: |X-CSTP-Address: |Location: ".split(
    "|",
  );
const XML_SEEDS = utf8(
  ...Object.values(ASA),
  FORMS.username,
  FORMS.groups,
  FORMS.password,
  FORMS.failed,
  FORMS.code,
  FORMS.success,
);
const XML_ERRORS = [XmlError, HttpSyntaxError, CstpError, NetworkFault];
const CSTP = [
  encodeCstp(FRAME.data, Buffer.alloc(30, 1)),
  encodeCstp(FRAME.disconnect, Buffer.from("\u00b0bye")),
  encodeCstp(FRAME.keepalive, Buffer.alloc(0)),
];

function answersOf(pieces: readonly Buffer[], method: "POST" | "CONNECT"): HttpAnswer | string | undefined {
  const parser = new AnswerParser(method);
  let answer: HttpAnswer | undefined;
  try {
    for (const piece of pieces) answer ??= parser.push(piece);
    return answer ?? parser.end();
  } catch (error) {
    if (error instanceof HttpSyntaxError) return answer ?? "refused";
    throw error;
  }
}

const openconnect: readonly FuzzTarget[] = [
  {
    name: "openconnect xml",
    seeds: XML_SEEDS,
    words: XML_WORDS,
    refusals: [XmlError],
    longest: 128 * 1024,
    run(input) {
      const source = text(input);
      parseXml(source);
      const answer = parseLoginAnswer(source);
      must((answer?.form?.fields.length ?? 0) <= 64, "more fields than are taken");
      return answer === undefined
        ? "other"
        : `${answer.isLoggedIn} ${answer.form?.fields.map(({ kind }) => kind).join()}`;
    },
  },
  {
    name: "openconnect http answers",
    seeds: OPENCONNECT_SEEDS,
    words: XML_WORDS,
    run(input) {
      const shapes = (["POST", "CONNECT"] as const).map((method) => {
        const whole = answersOf([input], method);
        must(isDeepStrictEqual(whole, answersOf(piecesOf(input), method)), "pieces are read otherwise");
        if (whole === undefined || typeof whole === "string") return whole ?? "more";
        const offer = parseOffer(whole);
        if (offer !== undefined) must(offer.addresses.length > 0 && offer.mtuBytes >= 68, "an offer of nothing");
        const jar = new CookieJar();
        jar.take(whole);
        must(/^[\x20-\x7e]*$/.test(jar.text()), "cookies that break a header");
        return `${whole.status} ${offer !== undefined} ${jar.text().length > 0}`;
      });
      return shapes.join();
    },
  },
  {
    name: "openconnect frames",
    seeds: [Buffer.concat(CSTP), ...CSTP],
    words: ["STF\u0001"],
    refusals: [CstpError],
    run(input) {
      const read = (pieces: readonly Buffer[]): readonly string[] => {
        const reader = new CstpReader();
        const frames: string[] = [];
        try {
          for (const piece of pieces) {
            reader.push(piece, (one) =>
              frames.push(`${one.type} ${one.payload.toString("hex")} ${reasonOf(one).length}`),
            );
          }
        } catch (error) {
          if (!(error instanceof CstpError)) throw error;
          frames.push("refused");
        }
        return frames;
      };
      const whole = read([input]);
      must(isDeepStrictEqual(whole, read(piecesOf(input))), "pieces are read otherwise");
      return Math.min(4, whole.length);
    },
  },
  {
    name: "openconnect login",
    // Answers one behind the other, as bodies between marks.
    seeds: [FORMS.username, FORMS.groups, ASA.form, ASA.web].map((first) =>
      Buffer.from([first, FORMS.password, FORMS.success].join("\x1e")),
    ),
    words: [...XML_WORDS, "\x1e"],
    refusals: XML_ERRORS,
    run(input) {
      const talk = logIn({
        authority: "vpn.test:8443",
        target: "/?secret",
        username: "a",
        password: "PASS-WORD",
        group: (input[1] ?? 0) % 2 === 0 ? null : "staff",
      });
      let step = talk.next();
      let given = 0;
      for (const body of text(input).split("\x1e").slice(0, 20)) {
        if (step.done === true) return `ended ${step.value.kind}`;
        const [head = ""] = encodeRequest(step.value).toString("latin1").split("\r\n\r\n");
        must(/^[\x20-\x7e]+(\r\n[\x20-\x7e]+)*$/.test(head), "a request open to injection");
        if (step.value.body.includes("PASS-WORD")) given++;
        must(given <= 1, "the password was given twice");
        const line = body.split("\n", 1)[0] ?? "";
        const headers: [string, string][] = line.includes(": ")
          ? [[(line.split(": ")[0] ?? "").toLowerCase(), line.slice(line.indexOf(": ") + 2)]]
          : [];
        const status = [200, 200, 200, 302, 401][(body.charCodeAt(3) || 0) % 5] ?? 200;
        step = talk.next({ status, phrase: "", headers, body, isLast: false });
      }
      return "asks";
    },
  },
];

export const VPN: readonly FuzzTarget[] = [...ikev2, ...openvpn, ...openconnect];
