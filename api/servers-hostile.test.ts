/** Hostile framing and hostile patience before both servers. */
import { describe } from "vitest";
import { slowSuite } from "../testkit/api/slow.suite.ts";
import { smugglingSuite } from "../testkit/api/smuggling.suite.ts";
import { listenUws } from "./server.ts";
import { listenNode } from "./server-node.ts";

describe("uWebSockets.js", () => {
  smugglingSuite(listenUws);
  slowSuite(listenUws);
});

describe("node:http", () => {
  smugglingSuite(listenNode);
  slowSuite(listenNode);
});
