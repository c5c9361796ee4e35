import { expect, it, vi } from "vitest";
import { wholeAnswer } from "./whole-answer.ts";

const HEADERS = ["Content-Type", "text/html", "X-Other", "é"];

function answerOf(body: string, status = 200) {
  return wholeAnswer({ status, headers: HEADERS, body });
}

it("keeps head and body as one, made anew where the date is another", () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  try {
    const { whole, security } = answerOf("<p>é</p>");
    const first = whole?.bytes();
    expect(first?.toString()).toBe(
      "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Type: text/html\r\nX-Other: é\r\nContent-Length: 9\r\n\r\n<p>é</p>",
    );
    expect(whole?.bytes()).toBe(first);
    vi.advanceTimersByTime(1_000);
    expect(whole?.bytes().toString()).toContain("Date: Thu, 01 Jan 2026 00:00:01 GMT\r\n");
    // What was handed to a socket before stays as it was.
    expect(first?.toString()).toContain("00:00:00 GMT");
    expect(security).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});

it("gives no length and no body to what has none, and keeps no long body twice", () => {
  expect(answerOf("body", 304).whole?.bytes().toString()).toMatch(/^HTTP\/1\.1 304 (?!.*(?:body|Content-Length))/s);
  const long = answerOf("x".repeat(65_537));
  expect(long.whole).toBeUndefined();
  expect(long).toMatchObject({ security: [], headers: HEADERS });
});
