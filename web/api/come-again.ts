/** Reads that the service refused because checks need the processors are asked again when it says. */

/** After longer ones something is away, and a person is told of it at once, s. */
const LONGEST_WAIT_S = 3;
const TRIED_AGAIN = 2;

/**
 * @param ask sends the request
 * @param pause waits so many ms
 * @returns the last answer
 */
export async function comeAgain(
  request: Request,
  first: Response,
  ask: (request: Request) => Promise<Response>,
  pause: (ms: number) => Promise<unknown>,
): Promise<Response> {
  let response = first;
  for (let tries = 0; tries < TRIED_AGAIN; tries++) {
    const waitS = waitOf(request, response);
    if (waitS === null) break;
    await pause(waitS * 1_000);
    response = await ask(request);
  }
  return response;
}

/** null: it is not to be asked again. */
function waitOf({ method }: Request, { status, headers }: Response): number | null {
  const waitS = Number(headers.get("Retry-After") ?? Number.NaN);
  return method === "GET" && status === 503 && waitS >= 0 && waitS <= LONGEST_WAIT_S ? waitS : null;
}
