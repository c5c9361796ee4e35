import { parserSuite } from "../config.suite.ts";
import { parseAmneziawg } from "./config.ts";

const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const PEER = "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=";
const own =
  "Jc = 4\nJmin = 40\nJmax = 70\nS1 = 50\nS2 = 60\nH1 = 5-10\nH2 = 11\nH3 = 300-400\nH4 = 4294967295\nI1 = <b 0xdeadbeef><r 20> <t>\n";
const file = `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.0.0.2\n${own}[Peer]\nPublicKey = ${PEER}\nEndpoint = awg.test-site.org:443\nAllowedIPs = 0.0.0.0/0\n`;
const without = (line: string, put: string) => ({ config: file.replace(line, put) });

parserSuite("amneziawg", {
  parse: parseAmneziawg,
  identity: "account",
  words: ["Jc = 99", "H1 = 1-2", "I1 = <r 5>", "S1 = 1132"],
  good: [
    [{ config: file }, "awg.test-site.org 443"],
    [{ config: file.replace(own, "") }, "awg.test-site.org 443"],
    [without("I1 = <b 0xdeadbeef><r 20> <t>", "I1 ="), "awg.test-site.org 443"],
    [without(":443", ":123"), "awg.test-site.org 123"],
    [without("Jc = 4\nJmin = 40\nJmax = 70", "Jc = 120\nJmin = 23\nJmax = 911"), "awg.test-site.org 443"],
  ],
  bad: [
    [{}, "missing config"],
    [without("Jc = 4\n", "Jc = 65536\n"), "Jc must be a number from 0 to 65535"],
    [without("Jmin = 40", "Jmin = 80"), "Jmin is above Jmax"],
    [without("H2 = 11", "H2 = 7"), "H1 to H4 overlap"],
    [without("H2 = 11", "H2 = 4294967296"), "H2 must be a number of 32 bits or a range of them"],
    [without("<r 20>", "<q 20>"), "I1 has a tag that is not known"],
    [without("<r 20>", "<r 9999>"), "I1 has a tag of more than 1400 bytes"],
  ],
});
