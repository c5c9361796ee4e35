import { expect, it } from "vitest";
import { comeAgain } from "./come-again.ts";

const GET = new Request("http://127.0.0.1/api/v1/servers");

function refused(waitS: string | null): Response {
  return new Response("{}", { status: 503, headers: waitS === null ? {} : { "Retry-After": waitS } });
}

/** @returns the status of the last answer, and the waits */
async function asked(request: Request, first: Response, ...next: readonly Response[]) {
  const waits: number[] = [];
  const answers = [...next];
  const last = await comeAgain(
    request,
    first,
    async () => answers.shift() ?? first,
    async (ms) => void waits.push(ms),
  );
  return [last.status, waits];
}

it("asks again when the service says", async () => {
  expect(await asked(GET, refused("1"), new Response("{}"))).toEqual([200, [1_000]]);
  expect(await asked(GET, refused("2"), refused("1"), new Response("{}"))).toEqual([200, [2_000, 1_000]]);
});

it("gives up after two times", async () => {
  expect(await asked(GET, refused("1"), refused("1"), refused("1"), new Response("{}"))).toEqual([503, [1_000, 1_000]]);
});

it("tells at once what takes long, says nothing of when, is no read, or no refusal", async () => {
  expect(await asked(GET, refused("5"))).toEqual([503, []]);
  expect(await asked(GET, refused("soon"))).toEqual([503, []]);
  expect(await asked(GET, refused(null))).toEqual([503, []]);
  expect(await asked(new Request(GET, { method: "DELETE" }), refused("1"))).toEqual([503, []]);
  expect(await asked(GET, new Response("{}"))).toEqual([200, []]);
});
