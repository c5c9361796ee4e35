import { expect, it, vi } from "vitest";
import { forEach } from "./several.ts";

it("what a service answers cannot move a terminal's cursor, its ids included", async () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  await forEach(
    ["srv_1"],
    {},
    { act: async (id) => ({ id: `${id}\u001b[2J\u009b1m` }), say: ({ id }) => `${id}  deleted` },
  );
  const lines = write.mock.calls.map(([text]) => text);
  write.mockRestore();
  expect(lines).toEqual(["srv_1\ufffd[2J\ufffd1m  deleted\n"]);
});
