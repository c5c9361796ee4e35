import { describe, expect, it } from "vitest";
import { protectionOf } from "./protection.ts";

describe("what holds the cores", () => {
  it("is told in one line", () => {
    expect(protectionOf("brokered-own-user", { landlock: 7, seccomp: true }, true)).toEqual({
      words:
        "cores: landlock 7 files+tcp, seccomp, no new privileges, a user of their own; network: their servers' addresses and ports alone",
      isWhole: true,
      advice: "",
    });
  });

  it.each([
    [
      "brokered",
      { landlock: 0, seccomp: true },
      "cores: seccomp, no new privileges; network: their servers'",
      /Landlock/,
    ],
    [
      "held",
      { landlock: 7, seccomp: true },
      "cores: landlock 7 files+tcp, seccomp, no new privileges; network: tcp to their servers' ports at any address, udp only",
      /other addresses/,
    ],
    ["held", { landlock: 0, seccomp: true }, "cores: seccomp, no new privileges; network: tcp to anything", /Landlock/],
    ["held", { landlock: 3, seccomp: true }, "cores: landlock 3 files, seccomp", /Linux 6\.7/],
    ["held", { landlock: 7, seccomp: false }, "cores: landlock 7 files+tcp, no new privileges;", /allow seccomp/],
    [
      "own-user",
      { landlock: 7, seccomp: true },
      "cores: a user of their own, no new privileges; network: anything",
      /64-bit/,
    ],
    ["bound", null, "cores: no new privileges; network: anything", /from memory/],
    ["loose", null, "cores: nothing holds them; network: anything", /from memory/],
  ] as const)("and what would hold them more: %s %o", (bounds, hold, begin, advice) => {
    const told = protectionOf(bounds, hold, (hold?.landlock ?? 0) >= 4);
    expect(told.words.startsWith(begin)).toBe(true);
    expect(told.isWhole).toBe(false);
    expect(told.advice).toMatch(advice);
  });
});
