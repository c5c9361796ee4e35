import { describe, expect, it } from "vitest";
import { exchangeDatagram } from "./datagram.ts";

describe("a question over UDP", () => {
  it("fails, and brings nothing down, where the system refuses the way", async () => {
    // Broadcast is not permitted to an ordinary socket: connect says so, like a missing route (connect(2), EACCES and ENETUNREACH).
    const asked = exchangeDatagram({ ip: "255.255.255.255", family: 4 }, 53, Uint8Array.of(1), () => "answer", {});
    await expect(asked).rejects.toMatchObject({ code: "EACCES" });
  });
});
