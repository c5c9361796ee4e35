import type { TLSSocket } from "node:tls";
import { expect, it } from "vitest";
import { certificateFaultOf } from "./certificate-fault.ts";

function faultOf(verifyError?: () => Error | null): string {
  const socket = { authorizationError: "UNSPECIFIED", ssl: verifyError === undefined ? null : { verifyError } };
  return certificateFaultOf(socket as unknown as TLSSocket, "www.test-site.org", undefined, 0).message;
}

it("has OpenSSL's words where Node has no code for what is wrong", () => {
  const reason = "CA signature digest algorithm too weak";
  expect(faultOf(() => new Error(reason))).toBe(`The certificate is not valid: ${reason}`);
  expect(faultOf(() => null)).toBe("The certificate is not valid");
  expect(faultOf()).toBe("The certificate is not valid");
});
