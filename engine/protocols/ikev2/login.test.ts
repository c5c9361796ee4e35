import { describe, expect, it } from "vitest";
import { NetworkFault } from "../../net/fault.ts";
import { decodeEap, EapPeer, type TlsFlight } from "./eap.ts";
import { md4 } from "./md4.ts";
import { IkeFormatError } from "./message.ts";
import { des, proveMschap } from "./mschap.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");

describe("hashes and ciphers that OpenSSL has no longer", () => {
  // RFC 1320 appendix A.5.
  it.each([
    ["", "31d6cfe0d16ae931b73c59d7e0c089c0"],
    ["a", "bde52cb31de33e46245e05fbdbd6fb24"],
    ["abc", "a448017aaf21d8525fc10ae87aa6729d"],
    ["message digest", "d9130a8164549fe818874806e1c7014b"],
    ["abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"],
    ["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "043f8582f241db351ce627e153e7f0e4"],
    [`${"1234567890".repeat(8)}`, "e33b4ddc9c38f2199c3e7b164fcc0536"],
  ])("MD4 of %j", (text, digest) => {
    expect(md4(Buffer.from(text)).toString("hex")).toBe(digest);
  });

  it("DES of the textbook, its key without parity bits", () => {
    const bits = [..."133457799BBCDFF1".matchAll(/../g)].map(([byte]) => Number.parseInt(byte, 16) >> 1);
    const key = bits
      .reduce((all, seven) => (all << 7n) | BigInt(seven), 0n)
      .toString(16)
      .padStart(14, "0");
    expect(des(hex(key), hex("0123456789ABCDEF")).toString("hex")).toBe("85e813540f0ab405");
  });
});

describe("MSCHAPv2", () => {
  // RFC 2759 section 9.2, RFC 3079 section 3.5.2.
  const challenges = {
    authenticator: hex("5B 5D 7C 7D 7B 3F 2F 3E 3C 2C 60 21 32 26 26 28"),
    peer: hex("21 40 23 24 25 5E 26 2A 28 29 5F 2B 3A 33 7C 7E"),
  };
  const proof = proveMschap("User", "clientPass", challenges);

  it("answers and expects what RFC 2759 says", () => {
    expect(proof.response.toString("hex")).toBe("82309ecd8d708b5ea08faa3981cd83544233114a3d85d6df");
    expect(proof.expected).toBe("S=407A5589115FD0D6209F510FE9C04566932CDA56");
  });

  it("makes the key that RFC 3079 says, and does without a domain", () => {
    // SendStartKey128 of a server, section 3.5.3; it comes second, as the lab's gateway has it.
    expect(proof.masterSessionKey.subarray(16, 32).toString("hex")).toBe("8b7cdc149b993a1ba118cb153f56dccb");
    expect(proof.masterSessionKey.subarray(32)).toEqual(Buffer.alloc(32));
    expect(proveMschap("OFFICE\\User", "clientPass", challenges)).toEqual(proof);
  });
});

const login = { username: "User", password: "clientPass" };
const challenge = hex("5B 5D 7C 7D 7B 3F 2F 3E 3C 2C 60 21 32 26 26 28");
const peerChallenge = hex("21 40 23 24 25 5E 26 2A 28 29 5F 2B 3A 33 7C 7E");
const expected = "S=407A5589115FD0D6209F510FE9C04566932CDA56";

function eap(code: number, identifier: number, ...content: (Buffer | number)[]): Buffer {
  const body = Buffer.concat(content.map((part) => (typeof part === "number" ? Buffer.from([part]) : part)));
  const header = Buffer.from([code, identifier, 0, 0]);
  header.writeUInt16BE(4 + body.length, 2);
  return Buffer.concat([header, body]);
}

const mschapChallenge = eap(1, 7, 26, 1, 9, Buffer.from([0, 24]), 16, challenge, Buffer.from("gw"));

function peerOf(): EapPeer {
  return new EapPeer(login, () => peerChallenge);
}

function reply(peer: EapPeer, packet: Buffer): Buffer {
  const step = peer.step(packet);
  return step.isDone ? expect.fail("it is done") : (step.reply ?? expect.fail("it is TLS's turn"));
}

function faultOf(act: () => unknown): NetworkFault {
  try {
    act();
  } catch (error) {
    if (error instanceof NetworkFault) return error;
    throw error;
  }
  return expect.fail("nothing was thrown");
}

describe("an EAP login", () => {
  it("by MSCHAPv2 ends with a key, once the server has proven that it knows the password", () => {
    const peer = peerOf();
    expect(decodeEap(reply(peer, eap(1, 1, 1)))).toMatchObject({ code: 2, identifier: 1, type: 1 });
    const response = decodeEap(reply(peer, mschapChallenge)).data;
    expect(response.subarray(29, 53).toString("hex")).toBe("82309ecd8d708b5ea08faa3981cd83544233114a3d85d6df");
    expect(response.readUInt8(1)).toBe(9);
    expect(response.subarray(54).toString()).toBe("User");
    const success = eap(1, 8, 26, 3, 9, Buffer.from([0, 46]), Buffer.from(`${expected} M=Welcome`));
    expect(reply(peer, success)).toEqual(eap(2, 8, 26, 3));
    const done = peer.step(eap(3, 8));
    expect(done).toMatchObject({ isDone: true });
    expect(done.isDone && done.masterSessionKey?.length).toBe(64);
  });

  it("gives a repeated request the same reply", () => {
    let asked = 0;
    const peer = new EapPeer(login, (sizeBytes) => Buffer.alloc(sizeBytes, ++asked));
    const first = reply(peer, mschapChallenge);
    expect(reply(peer, Buffer.from(mschapChallenge))).toEqual(first);
    expect(reply(peer, eap(1, 8, 26, 1, 9, Buffer.from([0, 24]), 16, challenge, Buffer.from("gw")))).not.toEqual(first);
  });

  it("by MSCHAPv2 takes a challenge that is cut off at any length for no message", () => {
    const whole = decodeEap(mschapChallenge).data;
    for (let sizeBytes = 0; sizeBytes < 5 + 16; sizeBytes++) {
      const cut = eap(1, 7, 26, ...whole.subarray(0, sizeBytes));
      expect(() => peerOf().step(cut), `${sizeBytes} bytes`).toThrow(IkeFormatError);
    }
  });

  it("refuses a server that does not know the password", () => {
    const peer = peerOf();
    reply(peer, mschapChallenge);
    const wrong = eap(1, 8, 26, 3, 9, Buffer.from([0, 46]), Buffer.from(`S=${"0".repeat(40)} M=Hi`));
    expect(faultOf(() => peer.step(wrong)).verdict).toBe("cert-invalid");
    const odd = eap(1, 8, 26, 3, 9, Buffer.from([0, 46]), Buffer.from(`S=${"\u00e9".repeat(40)}`, "latin1"));
    expect(faultOf(() => peer.step(odd)).verdict).toBe("cert-invalid");
    expect(faultOf(() => peer.step(eap(3, 8))).verdict).toBe("protocol-error");
  });

  it.each([
    [691, "wrong username or password"],
    [648, "the password has expired"],
    [649, "the account may not dial in"],
    [646, "logins are restricted at this hour"],
    [647, "the account is disabled"],
  ])("tells a failure %i in words", (code, words) => {
    const peer = peerOf();
    reply(peer, mschapChallenge);
    const failure = eap(1, 8, 26, 4, 9, Buffer.from([0, 0]), Buffer.from(`E=${code} R=0 C=00 V=3 M=No`));
    expect(reply(peer, failure)).toEqual(eap(2, 8, 26, 4));
    const fault = faultOf(() => peer.step(eap(4, 8)));
    expect(fault).toMatchObject({ verdict: "auth-failed", peer: `E=${code} No` });
    expect(fault.message).toContain(words);
  });

  it("by MD5 makes no key", () => {
    const peer = peerOf();
    const step = decodeEap(reply(peer, eap(1, 5, 4, 16, challenge)));
    // MD5 of 05, clientPass, and the challenge.
    expect(step.data.toString("hex")).toBe("100482574f93dd8bd5174a04f947edcb89");
    expect(peer.step(eap(3, 5))).toEqual({ isDone: true, masterSessionKey: null });
  });

  it("offers its own methods instead of another, and names that one when it stays so", () => {
    const peer = peerOf();
    expect(decodeEap(reply(peer, eap(1, 2, 25, 0)))).toMatchObject({ type: 3, data: Buffer.from([26, 4]) });
    const fault = faultOf(() => peer.step(eap(4, 2)));
    expect(fault.verdict).toBe("misconfigured");
    expect(fault.message).toContain("PEAP");
  });

  it("repeats no password that a server says back", () => {
    const peer = peerOf();
    reply(peer, mschapChallenge);
    reply(peer, eap(1, 8, 26, 4, 9, Buffer.from([0, 0]), Buffer.from(`E=691 M=not ${login.password}`)));
    expect(faultOf(() => peer.step(eap(4, 8))).peer).toBe("E=691 not …");
  });

  it("is no success before any method, and no secret is in a fault", () => {
    expect(faultOf(() => peerOf().step(eap(3, 1))).verdict).toBe("protocol-error");
    const refusal = faultOf(() => peerOf().step(eap(4, 1)));
    expect(refusal.verdict).toBe("auth-failed");
    expect(`${refusal.message} ${refusal.peer} ${refusal.hint}`).not.toContain(login.password);
  });
});

describe("an EAP login by certificate", () => {
  const certified = (): EapPeer => new EapPeer({ username: "User", password: null }, () => peerChallenge);
  const key = Buffer.alloc(64, 9);
  const flight = (records: Buffer, isUp = false): TlsFlight => ({
    kind: "flight",
    records,
    secured: isUp ? { masterSessionKey: key, chain: [] } : null,
  });

  it("hands TLS whole flights, and ends with its key", () => {
    const peer = certified();
    expect(decodeEap(reply(peer, eap(1, 1, 1))).data.toString()).toBe("User");
    expect(peer.step(eap(1, 2, 13, 0x20))).toEqual({ isDone: false, reply: null, records: Buffer.alloc(0) });
    expect(peer.takeFlight(flight(Buffer.from("hello")))).toEqual(eap(2, 2, 13, 0, Buffer.from("hello")));
    expect(reply(peer, eap(1, 2, 13, 0x20))).toEqual(eap(2, 2, 13, 0, Buffer.from("hello")));
    const length = Buffer.from([0, 0, 0, 6]);
    expect(reply(peer, eap(1, 3, 13, 0xc0, length, Buffer.from("ser")))).toEqual(eap(2, 3, 13, 0));
    expect(peer.step(eap(1, 4, 13, 0, Buffer.from("ver")))).toMatchObject({ records: Buffer.from("server") });
    expect(peer.takeFlight(flight(Buffer.alloc(0), true))).toEqual(eap(2, 4, 13, 0));
    expect(peer.step(eap(3, 4))).toEqual({ isDone: true, masterSessionKey: key });
  });

  it("is no success before TLS is up", () => {
    const peer = certified();
    peer.step(eap(1, 2, 13, 0x20));
    peer.takeFlight(flight(Buffer.from("hello")));
    expect(faultOf(() => peer.step(eap(3, 2))).verdict).toBe("protocol-error");
    expect(faultOf(() => peer.step(eap(4, 2)))).toMatchObject({
      verdict: "auth-failed",
      message: "The gateway refused the username or certificate",
    });
  });

  it("takes no password's method, and a login by password no TLS: each says what is missing", () => {
    const peer = certified();
    expect(decodeEap(reply(peer, mschapChallenge))).toMatchObject({ type: 3, data: Buffer.from([13]) });
    expect(faultOf(() => peer.step(eap(4, 7)))).toMatchObject({
      verdict: "misconfigured",
      message: "The gateway wants to log in by EAP MSCHAPv2, and these fields are for another login",
      hint: expect.stringContaining("password"),
    });
    const other = peerOf();
    expect(decodeEap(reply(other, eap(1, 2, 13, 0x20)))).toMatchObject({ type: 3, data: Buffer.from([26, 4]) });
    expect(faultOf(() => other.step(eap(4, 2)))).toMatchObject({
      verdict: "misconfigured",
      hint: expect.stringContaining("cert and key"),
    });
  });
});
