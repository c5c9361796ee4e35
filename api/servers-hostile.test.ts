/** Hostile framing and hostile patience before both servers. */
import { describe } from "vitest";
import { headerNamesSuite } from "../testkit/api/header-names.suite.ts";
import { sameReadingSuite } from "../testkit/api/same-reading.suite.ts";
import { slowSuite } from "../testkit/api/slow.suite.ts";
import { smugglingSuite } from "../testkit/api/smuggling.suite.ts";
import { listenNet } from "./server.ts";
import { listenNode } from "./server-node.ts";

describe("node:net", () => {
  smugglingSuite(listenNet);
  slowSuite(listenNet);
  headerNamesSuite(listenNet);
});

describe("node:http", () => {
  smugglingSuite(listenNode);
  slowSuite(listenNode);
  headerNamesSuite(listenNode);
});

sameReadingSuite();
