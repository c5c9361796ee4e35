import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makeCertificate } from "../../../demo/certificates.ts";
import { addressBytes, decodeIp, PROTOCOLS } from "../inner/packet.ts";
import { encodeFrame, encodeGoodbye, FRAME, type Frame, FrameReader, reasonOf } from "./cstp.ts";
import { parseLoginAnswer } from "./form.ts";
import { AnswerParser, encodeRequest } from "./http.ts";
import { isOffered, parseOffer } from "./offer.ts";
import { isPin, isPinned, pinsOf } from "./pin.ts";
import { RECORDED } from "./recorded.suite.ts";
import { parseXml } from "./xml.ts";

function framesOf(...pieces: readonly Buffer[]): Frame[] {
  const reader = new FrameReader();
  const frames: Frame[] = [];
  for (const piece of pieces) {
    reader.push(piece, ({ type, payload }) => frames.push({ type, payload: Buffer.from(payload) }));
  }
  return frames;
}

describe("frames", () => {
  it("are read as ocserv sends them", () => {
    const [frame] = framesOf(RECORDED.echo);
    expect(frame?.type).toBe(FRAME.data);
    const packet = decodeIp(Uint8Array.from(frame?.payload ?? []));
    expect(packet).toMatchObject({
      protocol: PROTOCOLS.icmp,
      source: addressBytes("1.1.1.1"),
      destination: addressBytes("10.68.0.50"),
    });
  });

  it("come through whole however they are cut", () => {
    const all = [
      encodeFrame(FRAME.dpdRequest, Buffer.from("ping")),
      encodeFrame(FRAME.keepalive, Buffer.alloc(0)),
      encodeFrame(FRAME.data, Buffer.alloc(65_535, 7)),
    ];
    const whole = Buffer.concat(all);
    for (const size of [1, 7, 8, 9, 4_096]) {
      const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, nth) =>
        whole.subarray(nth * size, (nth + 1) * size),
      );
      expect(framesOf(...pieces).map(({ type, payload }) => [type, payload.length])).toEqual([
        [FRAME.dpdRequest, 4],
        [FRAME.keepalive, 0],
        [FRAME.data, 65_535],
      ]);
    }
  });

  it("say goodbye for good, and why", () => {
    expect(encodeGoodbye("done").toString("hex")).toBe("53544601000505" + "00" + "b0646f6e65");
    const [frame] = framesOf(encodeGoodbye("done"));
    expect(frame && reasonOf(frame)).toBe("done");
  });

  it("that are none are refused", () => {
    expect(() => framesOf(Buffer.from("HTTP/1.1 200 OK"))).toThrow("no head of CSTP");
  });
});

describe("XML as servers write it", () => {
  it("may hold lone characters, CDATA, entities, comments and open tags", () => {
    const top = parseXml(
      "<?xml version='1.0'?><!-- a <b> --><A:Top One=1 two='<&amp;' three=\"x\"><b>1 < 2 & 3 &lt;&#65;&#x42;&nbsp;</b><![CDATA[<raw>&amp;]]><c/><d><e>open</A:Top>",
    );
    expect(top.name).toBe("top");
    expect([...top.attributes]).toEqual([
      ["one", "1"],
      ["two", "<&"],
      ["three", "x"],
    ]);
    expect(top.text).toBe("<raw>&amp;");
    expect(top.children.map(({ name, text }) => `${name}:${text}`)).toEqual(["b:1 < 2 & 3 <AB&nbsp;", "c:", "d:"]);
    expect(top.children[2]?.children[0]?.text).toBe("open");
  });

  it.each([
    ["a document type", "<!DOCTYPE html><html/>"],
    ["nothing", "plain words"],
    ["depth", "<a>".repeat(100)],
    ["very many elements", "<a/>".repeat(5_000)],
    ["a long text", `<a>${"x".repeat(200_000)}</a>`],
    ["very many attributes", `<a ${"b=1 ".repeat(100)}>`],
  ])("of %s is refused", (_, text) => {
    expect(() => parseXml(text)).toThrow();
  });

  it("of a form gives its fields and groups", () => {
    expect(parseLoginAnswer(RECORDED.groups)).toMatchObject({
      isLoggedIn: false,
      message: "Please enter your username.",
      form: {
        action: "/auth",
        fields: [
          { kind: "text", name: "username", label: "Username" },
          {
            kind: "select",
            name: "group_list",
            options: [{ value: "guests" }, { value: "staff", label: "Staff & friends" }],
          },
        ],
      },
    });
  });
});

describe("answers", () => {
  it("end with their length, the last piece, or the connection; what follows CONNECT's is the tunnel", () => {
    const sized = new AnswerParser("POST");
    expect(
      sized.push(
        Buffer.from("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\nA: 1\r\n 2\r\n\r\nab"),
      ),
    ).toBeUndefined();
    expect(sized.push(Buffer.from("cd"))).toMatchObject({
      status: 200,
      body: "abcd",
      isLast: false,
      headers: [
        ["content-length", "4"],
        ["a", "1 2"],
      ],
    });
    const chunked = new AnswerParser("POST");
    expect(
      chunked.push(
        Buffer.from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nab\r\n0\r\n\r\n"),
      ),
    ).toMatchObject({ body: "ab", isLast: true });
    const open = new AnswerParser("POST");
    expect(open.push(Buffer.from("HTTP/1.1 200 OK\r\n\r\nab"))).toBeUndefined();
    expect(open.end()).toMatchObject({ body: "ab", isLast: true });
    const tunnel = new AnswerParser("CONNECT");
    expect(tunnel.push(Buffer.from("HTTP/1.1 200 CONNECTED\r\n\r\nSTF"))).toMatchObject({ phrase: "CONNECTED" });
    expect(tunnel.rest.toString()).toBe("STF");
  });

  it("without an end are refused", () => {
    const parser = new AnswerParser("POST");
    expect(() => parser.push(Buffer.from(`HTTP/1.1 200 OK\r\nA: ${"x".repeat(70_000)}`))).toThrow("larger than 64 KiB");
    const long = new AnswerParser("POST");
    expect(() => long.push(Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${"x".repeat(200_000)}`))).toThrow("too long");
    expect(() => new AnswerParser("POST").push(Buffer.from("220 mail.test"))).toThrow("not HTTP");
  });

  it("are asked for with a body's length in bytes", () => {
    const request = encodeRequest({ method: "POST", target: "/", headers: [["Host", "a"]], body: "é" });
    expect(request.toString("utf8")).toBe("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\né");
  });
});

describe("what a server offers", () => {
  it("is read as ocserv sends it", () => {
    const offer = parseOffer({ headers: RECORDED.connected });
    expect(offer).toMatchObject({
      addresses: ["10.68.0.50", "fd00:68::9a7c:c09f:b76e:58ef"],
      dns: ["1.1.1.1"],
      mtuBytes: 1_472,
    });
    const isBehind = (text: string): boolean =>
      offer !== undefined && isOffered(offer, addressBytes(text) ?? new Uint8Array());
    expect([isBehind("1.1.1.200"), isBehind("1.1.2.1"), isBehind("2606:4700:4700::1111")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("is everything where it names no networks, and nothing without an address", () => {
    const offer = parseOffer({ headers: [["x-cstp-address", "10.0.0.2"]] });
    expect(offer && isOffered(offer, addressBytes("9.9.9.9") ?? new Uint8Array())).toBe(true);
    expect(parseOffer({ headers: [["x-cstp-dns", "10.0.0.1"]] })).toBeUndefined();
  });
});

describe("pins", () => {
  const certificate = new X509Certificate(makeCertificate({ commonName: "vpn.test" }).certPem);
  const other = new X509Certificate(makeCertificate({ commonName: "vpn.test" }).certPem);

  it("are of the key, in three ways of writing, hex in any case", () => {
    for (const pin of pinsOf(certificate)) {
      const given = pin.startsWith("pin-") ? pin : pin.toUpperCase();
      expect(isPin(given)).toBe(true);
      expect([isPinned(given, certificate), isPinned(given, other)]).toEqual([true, false]);
    }
    expect(["", "pin-sha256:", "sha256:00", "md5:00"].some(isPin)).toBe(false);
  });
});
