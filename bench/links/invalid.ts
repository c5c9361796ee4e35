/** One in a hundred cannot be used: the others are judged all the same, at nearly the same speed. */
import { wrongs } from "./alive.ts";
import { measureOurs } from "./measure.ts";
import { MIXED, type Offered } from "./mix.ts";
import type { Rig } from "./rig.ts";

/** What the parser refuses, and what only a core stumbles over. */
const BROKEN: readonly Offered[] = [
  {
    kind: "vless",
    url: "vless://3f1d6a52-7f0c-4c1e-9b7e-2d5a8c4e6b10@127.0.0.1:443?security=reality&sni=a.test&pbk=short",
  },
  { kind: "shadowsocks", url: "ss://2022-blake3-aes-128-gcm:bm8@127.0.0.1:443" },
  { kind: "vmess", url: "vmess://e30=" },
];

export async function runInvalid(rig: Rig): Promise<void> {
  const { configs, inFlight, timeoutMs } = rig.options;
  const direct = await rig.open(inFlight);
  try {
    const good = rig.mix.offer(MIXED, configs);
    const some = good.map((one, index) => (index % 100 === 50 ? (BROKEN[((index / 100) % 3) | 0] ?? one) : one));
    const options = { engine: null, timeoutMs, others: rig.others };
    const without = await measureOurs(direct, good, options);
    const withThem = await measureOurs(direct, some, options);
    const broken = withThem.judged.filter(({ offered }) => BROKEN.includes(offered));
    const called = broken.filter(({ outcome }) => outcome.verdict !== "misconfigured").length;
    const rest = withThem.judged.filter(({ offered }) => !BROKEN.includes(offered));
    console.log(
      `${configs}, one in a hundred invalid: ${without.perS.toFixed(0)}/s without, ${withThem.perS.toFixed(0)}/s with them; ${rest.length} judged, ${wrongs(rest)}; ${broken.length} invalid, ${called} of them called otherwise`,
    );
  } finally {
    await direct.close();
  }
}
