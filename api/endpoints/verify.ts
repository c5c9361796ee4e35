/** Our own verify endpoint: what a proxy's check asks through it, where this service has a public address (SONDE_VERIFY_URLS, `#token`). */

import type { Api } from "../api.ts";
import { badRequest } from "../errors.ts";
import type { ApiResponse } from "../http.ts";
import type { Call, Route } from "../route.ts";

const TEXT = "text/plain; charset=utf-8";
/** Only what a checker generates: a caller cannot make this endpoint answer with a page of its own. */
const TOKEN = /^[0-9a-z]{8,64}$/;

async function verify(_: Api, { request }: Call): Promise<ApiResponse> {
  const token = new URLSearchParams(request.query).get("token") ?? "";
  if (!TOKEN.test(token)) throw badRequest("token must be 8 to 64 digits and lowercase letters");
  return { status: 200, headers: ["Content-Type", TEXT, "Cache-Control", "no-store"], body: token };
}

export const verifications: readonly Route[] = [
  {
    method: "GET",
    path: "/verify",
    operationId: "verifyToken",
    atRoot: true,
    group: "Operator",
    summary: "Answers the token that it is asked with: proof that a request came through",
    scope: "public",
    hidden: true,
    responses: { 200: TEXT },
    handle: verify,
  },
];
