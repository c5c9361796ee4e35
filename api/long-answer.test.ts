import { describe, expect, it } from "vitest";
import { Slices } from "../store/slices.ts";
import { okInTurns } from "./long-answer.ts";

class Counted extends Slices {
  rests = 0;
  override async rest(): Promise<void> {
    this.rests += 1;
  }
}

describe("A long answer", () => {
  it("is what it would be in one piece, whatever is in its lists", async () => {
    const changes = Array.from({ length: 1_234 }, (_, n) => ({ key: `web-${n}`, note: undefined, name: '"]}' }));
    const made = await okInTurns({ name: "shop" }, { changes, refused: [] }, new Slices());
    expect(made.status).toBe(200);
    expect(made.body).toBe(JSON.stringify({ name: "shop", changes, refused: [] }));
    expect(made.answered).toEqual({ name: "shop", changes, refused: [] });
  });

  it("lets others have the thread behind each fifty of its things", async () => {
    const slices = new Counted();
    await okInTurns({ name: "shop" }, { changes: Array.from({ length: 10_000 }, (_, n) => n) }, slices);
    expect(slices.rests).toBe(200);
  });
});
