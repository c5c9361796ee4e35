/** A checker of one-off checks that a test plays, and configurations that it is asked to check. */
import type { CheckAnswer, Checks, OneOffCheck, OneOffResult } from "../../store/state/checks.ts";
import { START_MS } from "./world.suite.ts";

const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
export const WIREGUARD = `[Interface]
PrivateKey = ${KEY}
Address = 10.0.0.2/32
[Peer]
PublicKey = ${KEY}
AllowedIPs = 0.0.0.0/0
Endpoint = vpn.test-site.org:51820
`;
export const UUID = "2f9c8a5e-6a3f-4b1e-9d4c-0a1b2c3d4e5f";
export const VLESS = `vless://${UUID}@vpn.test-site.org:443?security=tls&sni=vpn.test-site.org#Berlin`;

const PASSED: OneOffResult = {
  verdict: "ok",
  startedAtMs: START_MS + 20,
  latencyMs: 41,
  connectMs: 320,
  peerAnswered: true,
  message: null,
};

interface Asked {
  readonly checkClass: string;
  readonly location: string;
  readonly check: OneOffCheck;
}

/** Answers what it is told to. */
export function playChecker() {
  const asked: Asked[] = [];
  let answer: CheckAnswer = { type: "measured", result: PASSED };
  const checks: Checks = {
    async ask(checkClass, location, check) {
      asked.push({ checkClass, location, check });
      return answer;
    },
    async close() {},
  };
  return {
    checks,
    asked,
    say(next: CheckAnswer) {
      answer = next;
    },
    measured(over: Partial<OneOffResult>) {
      answer = { type: "measured", result: { ...PASSED, ...over } };
    },
  };
}
