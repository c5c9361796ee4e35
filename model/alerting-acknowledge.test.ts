import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { acknowledgeToken, readAcknowledgeToken } from "./alerting-acknowledge.ts";

const WEEK_MS = 7 * 24 * 3_600_000;
const sealing = {
  seal: (where: string, text: string) => `${where}:${text}`,
  open(where: string, sealed: string) {
    if (!sealed.startsWith(`${where}:`)) throw new Error("not ours");
    return sealed.slice(where.length + 1);
  },
};

describe("a link that acknowledges", () => {
  it("is good for a week, for one group and channel", () => {
    const token = acknowledgeToken(sealing, { groupId: 9, channel: { id: 3 } }, 1_000);
    expect(readAcknowledgeToken(sealing, token, 1_000 + WEEK_MS)).toEqual({ groupId: 9, channelId: 3 });
    expect(readAcknowledgeToken(sealing, token, 1_001 + WEEK_MS)).toBeUndefined();
  });

  it("is nothing else, whatever is in it", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 500 }), (text) => {
        expect(readAcknowledgeToken(sealing, text, 0)).toBeUndefined();
        const read = readAcknowledgeToken(sealing, `acknowledge:${text}`, 0);
        if (read !== undefined) expect(text).toMatch(/^\d+\.\d+\.\d+$/);
      }),
      { numRuns: 100 },
    );
  });
});
