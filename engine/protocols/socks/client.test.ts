import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { connectRequest, greeting, SocksReplies } from "./client.ts";

const REPLIES = Buffer.from([5, 2, 1, 0, 5, 0, 0, 1, 127, 0, 0, 1, 0, 80]);

describe("what a SOCKS5 client asks", () => {
  it("is one method, and the login at once", () => {
    expect(greeting("us", "pwd")).toEqual(Buffer.from([5, 1, 2, 1, 2, 0x75, 0x73, 3, 0x70, 0x77, 0x64]));
  });

  it.each([
    ["1.2.3.4", [1, 1, 2, 3, 4]],
    ["::1", [4, ...Array(15).fill(0), 1]],
    ["2001:db8::10.0.0.1", [4, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1]],
    ["a.test", [3, 6, ...Buffer.from("a.test")]],
  ])("for %s is its address as bytes, or the name for the far end", (host, bytes) => {
    expect([...connectRequest(host, 443)]).toEqual([5, 1, 0, ...bytes, 1, 0xbb]);
  });

  it("refuses what does not fit its byte of length", () => {
    expect(() => greeting("u".repeat(256), "p")).toThrow(RangeError);
    expect(() => greeting("u", "")).toThrow(RangeError);
  });
});

describe("what a SOCKS5 server answers", () => {
  it("is read in whatever pieces it comes, and what follows is the target's", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(REPLIES.length), { maxLength: 5 }), fc.uint8Array({ maxLength: 9 }), (cuts, more) => {
        const all = Buffer.concat([REPLIES, more]);
        const replies = new SocksReplies();
        const places = [0, ...cuts.sort((a, b) => a - b), all.length];
        let read: ReturnType<SocksReplies["push"]> = { kind: "more" };
        for (const [index, place] of places.slice(1).entries()) {
          if (read.kind === "more") read = replies.push(all.subarray(places[index], place));
        }
        const end = places.find((place) => place >= REPLIES.length) ?? all.length;
        expect(read).toEqual({ kind: "done", rest: all.subarray(REPLIES.length, end) });
      }),
    );
  });

  it.each([
    ["another method", [5, 0xff], { kind: "refused", at: "method", code: null }],
    ["a wrong login", [5, 2, 1, 1], { kind: "refused", at: "login", code: null }],
    ["a refusal without an address", [5, 2, 1, 0, 5, 5], { kind: "refused", at: "connect", code: 5 }],
    ["something else", [0x48, 0x54], { kind: "refused", at: "method", code: null }],
    ["an address of no kind", [5, 2, 1, 0, 5, 0, 0, 9, 0], { kind: "refused", at: "connect", code: null }],
    ["a name", [5, 2, 1, 0, 5, 0, 0, 3, 1, 0x61, 0, 1, 7], { kind: "done", rest: Buffer.from([7]) }],
  ])("%s", (_, bytes, read) => {
    expect(new SocksReplies().push(Buffer.from(bytes))).toEqual(read);
  });

  it("never throws, whatever it is", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 12 }), { maxLength: 6 }), (pieces) => {
        const replies = new SocksReplies();
        for (const piece of pieces) if (replies.push(Buffer.from(piece)).kind !== "more") return;
      }),
    );
  });
});
