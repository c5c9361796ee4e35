import { expect, it } from "vitest";
import { base64, parserSuite, SECRET, UUID } from "../config.suite.ts";
import { parseVmess, parseVmessLink } from "./config.ts";

const json = { v: "2", ps: "Berlin", add: "VM.test-site.org", port: "443 ", id: UUID, aid: 0, net: "ws", alpn: ["h2"] };
const of = (value: unknown, rest = "") => ({ url: `vmess://${base64(JSON.stringify(value))}${rest}` });

parserSuite("vmess", {
  parse: parseVmess,
  identity: "none",
  words: [UUID, base64(JSON.stringify(json)), "tcp+tls:", "?aid=0"],
  good: [
    [of(json), "vm.test-site.org 443"],
    [of({ ...json, port: 80 }, "#Name"), "vm.test-site.org 80"],
    [
      { url: `vmess://${base64(JSON.stringify(json)).replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_")}` },
      "vm.test-site.org 443",
    ],
    [{ url: `vmess://${base64(`{"add":"vm.test-site.org","port":1,"id":"${UUID}",}`)}` }, "vm.test-site.org 1"],
    [{ url: `vmess://${UUID}@vm.test-site.org:8080?type=ws#x` }, "vm.test-site.org 8080"],
    [{ url: `vmess://ws+tls:${UUID}-0@vm.test-site.org:443/?host=h` }, "vm.test-site.org 443"],
    [{ url: `vmess://${base64(`auto:${UUID}@vm.test-site.org:443`)}?remarks=x` }, "vm.test-site.org 443"],
    [
      { url: `vmess://${base64(`B = vmess, vm.test-site.org, 443, aes-128-gcm, "${UUID}", over-tls=true`)}` },
      "vm.test-site.org 443",
    ],
  ],
  bad: [
    [{}, "missing url"],
    [{ url: "vmess://" }, "the link is empty"],
    [{ url: `vmess://${base64("{")}` }, "the link's base64 holds no JSON that can be read"],
    [of({ ...json, add: "" }), "the link has no server"],
    [of({ ...json, port: 0 }), "the link's port must be a number from 1 to 65535"],
    [of({ ...json, id: "" }), "the link has no user id"],
    [of({ ...json, id: SECRET.repeat(3) }), "the link's user id is not a UUID"],
    [{ url: `vmess://${SECRET}!` }, "the link is neither an address nor base64 of text"],
  ],
});

it("reads every form's id and name", () => {
  const forms = [
    `vmess://${base64(JSON.stringify(json))}`,
    `vmess://${UUID}@vm.test-site.org:443#Berlin`,
    `vmess://tcp:${UUID}-64@vm.test-site.org:443#Berlin`,
    `vmess://${base64(`auto:${UUID}@vm.test-site.org:443`)}?remarks=Berlin`,
    `vmess://${base64(`Berlin = vmess, vm.test-site.org, 443, none, "${UUID}"`)}`,
  ];
  for (const form of forms)
    expect(parseVmessLink(form)).toMatchObject({ credential: { uuid: UUID }, name: "Berlin", port: 443 });
});
