import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PHASES } from "../../model/result.ts";
import { VERDICTS } from "../../model/verdict.ts";
import { must } from "../../testkit/must.ts";
import { property } from "../../testkit/property.ts";
import { classify, classifyCode, isLocalRefusal, plainText } from "./classify.ts";
import { CERTIFICATE_PROBLEMS } from "./classify-codes.ts";
import { DeadlinePassed, faultOfAbort, NetworkFault } from "./fault.ts";

/** Inputs as many as are said or 20 s of them, whichever is less, on a machine that may be busy with other things. */
const BOUNDED = { interruptAfterTimeLimit: 20_000 };

function coded(code: string, extra: Record<string, unknown> = {}): Error {
  return Object.assign(new Error(`something ${code}`), { code, ...extra });
}

describe("system codes", () => {
  it.each([
    ["ECONNREFUSED", "refused"],
    ["EHOSTUNREACH", "unreachable"],
    ["ENETUNREACH", "unreachable"],
    ["EHOSTDOWN", "unreachable"],
    ["ECONNRESET", "closed"],
    ["ECONNABORTED", "closed"],
    ["EPIPE", "closed"],
    ["ENOTCONN", "closed"],
    ["ERR_STREAM_PREMATURE_CLOSE", "closed"],
    ["ETIMEDOUT", "timeout"],
    ["ENOTFOUND", "unresolved"],
    ["ENODATA", "unresolved"],
    ["EAI_AGAIN", "unresolved"],
    ["EAI_NODATA", "unresolved"],
    ["EAI_NONAME", "unresolved"],
    ["EMFILE", "unfit"],
    ["ENFILE", "unfit"],
    ["ENOBUFS", "unfit"],
    ["ENOMEM", "unfit"],
    ["EADDRNOTAVAIL", "unfit"],
    ["EADDRINUSE", "unfit"],
    ["EAGAIN", "unfit"],
    ["ENETDOWN", "unfit"],
    ["EPERM", "unfit"],
    ["OUT_OF_MEM", "unfit"],
    ["EAFNOSUPPORT", "unsupported"],
    ["EPROTONOSUPPORT", "unsupported"],
    ["EMSGSIZE", "protocol-error"],
    ["ENONET", "unreachable"],
    ["ERR_TLS_HANDSHAKE_TIMEOUT", "timeout"],
    ["UND_ERR_CONNECT_TIMEOUT", "timeout"],
    ["UND_ERR_HEADERS_TIMEOUT", "timeout"],
    ["UND_ERR_BODY_TIMEOUT", "timeout"],
    ["UND_ERR_ABORTED", "timeout"],
    ["UND_ERR_SOCKET", "closed"],
    ["UND_ERR_HEADERS_OVERFLOW", "protocol-error"],
    ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "protocol-error"],
    ["UND_ERR_RES_EXCEEDED_MAX_SIZE", "protocol-error"],
    ["UND_ERR_DESTROYED", "cancelled"],
    ["UND_ERR_CLOSED", "cancelled"],
    ["HPE_INVALID_CONSTANT", "protocol-error"],
    ["ERR_HTTP2_STREAM_ERROR", "protocol-error"],
    ["Z_DATA_ERROR", "protocol-error"],
    ["Z_BUF_ERROR", "protocol-error"],
    ["ERR__ERROR_FORMAT_PADDING_1", "protocol-error"],
    ["EBADF", "internal-error"],
    ["UND_ERR_INVALID_ARG", "internal-error"],
    ["ERR_SOCKET_BAD_PORT", "internal-error"],
  ])("%s is %s", (code, verdict) => {
    expect(classify(coded(code), "connect").verdict).toBe(verdict);
  });

  it("EACCES is a firewall on the way over IPv6 and our own policy over IPv4", () => {
    expect(classify(coded("EACCES", { address: "2a00:1450::1" }), "connect").verdict).toBe("unreachable");
    expect(classify(coded("EACCES", { address: "9.9.9.9" }), "connect").verdict).toBe("unfit");
    expect(classify(coded("EACCES"), "connect").verdict).toBe("unfit");
  });

  it("counts only our own refusals as local", () => {
    expect(isLocalRefusal(coded("EMFILE"))).toBe(true);
    expect(isLocalRefusal(coded("ECONNREFUSED"))).toBe(false);
    expect(isLocalRefusal(new Error("EMFILE"))).toBe(false);
    expect(isLocalRefusal("EMFILE")).toBe(false);
  });
});

describe("TLS", () => {
  it.each([...CERTIFICATE_PROBLEMS])("%s is cert-invalid", (code, message) => {
    expect(classify(coded(code), "handshake")).toMatchObject({ verdict: "cert-invalid", message });
    expect(classifyCode(code, "handshake")).toEqual({ verdict: "cert-invalid", message });
  });

  it("keeps the names of a certificate for another name", () => {
    const error = Object.assign(new Error("Hostname/IP does not match: a is not in b\u0000"), {
      code: "ERR_TLS_CERT_ALTNAME_INVALID",
    });
    expect(classify(error, "handshake").peer).toBe("Hostname/IP does not match: a is not in b");
  });

  it.each([
    ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "handshake", "handshake-failed", "(TLS 1.2 and 1.3 were offered)"],
    ["ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR", "handshake", "handshake-failed", "internal error"],
    ["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", "handshake", "handshake-failed", "handshake failure"],
    [
      "ERR_SSL_TLSV1_UNRECOGNIZED_NAME",
      "handshake",
      "handshake-failed",
      "refused the TLS handshake: unrecognized name (it",
    ],
    ["ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE", "handshake", "handshake-failed", "refused the TLS handshake"],
    // TLS 1.3: the server asks for a client certificate and refuses after our side is done
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "request", "handshake-failed", "certificate required"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "handshake", "handshake-failed", "does not speak TLS"],
    ["ERR_SSL_PACKET_LENGTH_TOO_LONG", "handshake", "handshake-failed", "does not speak TLS"],
    ["ERR_SSL_UNSUPPORTED_PROTOCOL", "handshake", "handshake-failed", "unsupported protocol"],
    ["ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC", "transfer", "protocol-error", "bad record mac"],
    ["EPROTO", "handshake", "handshake-failed", "protocol error"],
  ] as const)("%s in %s is %s", (code, stage, verdict, words) => {
    const found = classify(coded(code), stage);
    expect(found.verdict).toBe(verdict);
    expect(found.message).toContain(words);
  });

  it("reads OpenSSL's reason out of a write EPROTO", () => {
    const error = Object.assign(
      new Error(
        "write EPROTO 80AB:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:../ssl.c:1:SSL alert number 70",
      ),
      { code: "EPROTO" },
    );
    expect(classify(error, "handshake").message).toContain("tlsv1 alert protocol version");
  });
});

describe("deadlines and cancellation", () => {
  it.each([
    [null, "timeout"],
    ["resolve", "unresolved"],
    ["connect", "timeout"],
    ["handshake", "timeout"],
    ["request", "timeout"],
    ["transfer", "timeout"],
  ] as const)("a deadline in %s is %s", (stage, verdict) => {
    const messages = [
      new DeadlinePassed(),
      AbortSignal.abort().reason,
      new DOMException("x", "TimeoutError"),
      coded("ETIMEDOUT"),
    ].map((error) => classify(error, stage));
    expect(messages.map((found) => found.verdict)).toEqual(Array(4).fill(verdict));
    expect(new Set(messages.map((found) => found.message)).size).toBe(1);
  });

  it("a signal's own fault wins over the deadline", () => {
    const cancelled = new NetworkFault("cancelled", "The monitor was deleted");
    expect(faultOfAbort(AbortSignal.abort(cancelled))).toBe(cancelled);
    expect(faultOfAbort(AbortSignal.abort())).toBeInstanceOf(DeadlinePassed);
    expect(faultOfAbort(AbortSignal.abort("text"))).toBeInstanceOf(DeadlinePassed);
  });
});

describe("wrapped errors", () => {
  it("looks through fetch's and undici's wrappers", () => {
    const inner = coded("ECONNREFUSED");
    expect(classify(new TypeError("fetch failed", { cause: inner }), "connect").verdict).toBe("refused");
    expect(classify(coded("UND_ERR_SOCKET", { cause: coded("ECONNRESET") }), "transfer").verdict).toBe("closed");
    expect(classify(coded("UND_ERR_SOCKET", { cause: new Error("other side closed") }), "transfer").verdict).toBe(
      "closed",
    );
  });

  it("of several attempts takes the one that learned something about the target", () => {
    const all = (...codes: string[]) =>
      classify(new AggregateError(codes.map((code) => coded(code))), "connect").verdict;
    expect(all("ENETUNREACH", "ECONNREFUSED")).toBe("refused");
    expect(all("ECONNREFUSED", "EMFILE")).toBe("unfit");
    expect(all("ENETUNREACH", "EHOSTUNREACH")).toBe("unreachable");
    const without = new NetworkFault("unsupported", "This checker has no IPv6");
    const beside = (code: string) => classify(new AggregateError([without, coded(code)]), "connect").verdict;
    expect(["ECONNREFUSED", "EHOSTUNREACH", "EMFILE"].map(beside)).toEqual(["refused", "unreachable", "unfit"]);
    expect(classify(new AggregateError([]), "connect").verdict).toBe("internal-error");
  });

  it("does not follow a cause that leads to itself", () => {
    const loop = new Error("loop");
    Object.assign(loop, { cause: loop });
    expect(classify(loop, null).verdict).toBe("internal-error");
  });
});

describe("faults and unknown things", () => {
  it("keeps what a fault says, stripped", () => {
    const fault = new NetworkFault("rejected", "code 500\u001b[31m", {
      peerAnswered: true,
      peer: "a\u202eb",
      hint: "look",
    });
    expect(classify(fault, "request")).toEqual({
      verdict: "rejected",
      message: "code 500 [31m",
      peerAnswered: true,
      peer: "a b",
      hint: "look",
    });
  });

  it("calls what it does not know our own fault", () => {
    expect(classify(new TypeError("x is not a function"), "request")).toEqual({
      verdict: "internal-error",
      message: "TypeError: x is not a function",
    });
    const missing = new Error("Cannot find module '/opt/sonde/dist/x.js' imported from file:///opt/sonde/dist/y.js");
    expect(classify(missing, null).message).toBe("Error: Cannot find module '…' imported from …");
    expect(classify(new Error("https://a.test-site.org/b/c and /x"), null).message).toContain(".org/b/c and /x");
    expect(classify("text", null).verdict).toBe("internal-error");
    expect(classify(undefined, null).verdict).toBe("internal-error");
    expect(classify({ code: "ECONNREFUSED" }, null).verdict).toBe("internal-error");
  });

  property(
    [fc.anything({ maxDepth: 1, maxKeys: 3 }), fc.option(fc.constantFrom(...PHASES)), fc.string(), fc.string()],
    { ...BOUNDED, numRuns: 100_000 },
  )("any thrown thing gets a verdict of the list and a plain message", (thing, stage, code, message) => {
    for (const thrown of [thing, Object.assign(new Error(message, { cause: thing }), { code })]) {
      const found = classify(thrown, stage);
      must(VERDICTS.includes(found.verdict), `${found.verdict} is not in the list`);
      must(found.message.length <= 500, "the message is too long");
    }
  });

  property([fc.string({ unit: "binary", maxLength: 1200 })], { ...BOUNDED, numRuns: 20_000 })(
    "plain text stays plain",
    (text) => {
      const plain = plainText(text);
      must(plain.length <= 500, "the text is too long");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be gone
      must(!/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(plain), "a control character is left");
      must(!/\p{Surrogate}/u.test(plain), "half a character is left");
    },
  );
});
