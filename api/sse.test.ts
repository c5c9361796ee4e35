import { describe, expect, it } from "vitest";
import { sseBye, sseEvent } from "./sse.ts";

describe("server-sent events", () => {
  it("hold their data in one line, whatever it is", () => {
    expect(sseEvent("hello", { name: "a\r\nevent: x\n\n" })).toBe(
      'event: hello\ndata: {"name":"a\\r\\nevent: x\\n\\n"}\n\n',
    );
  });

  it("say goodbye with a time to come back that lies between 1 and 5 s", () => {
    expect(sseBye((from, below) => below - from)).toBe("retry: 4001\nevent: bye\ndata: {}\n\n");
    const times = Array.from({ length: 200 }, () => Number(/^retry: (\d+)\n/.exec(sseBye())?.[1]));
    expect(times.every((ms) => ms >= 1_000 && ms <= 5_000)).toBe(true);
    expect(new Set(times).size).toBeGreaterThan(100);
  });
});
