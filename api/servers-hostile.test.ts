/** Hostile framing and hostile patience before both servers. */
import { describe } from "vitest";
import { listenUws } from "./server.ts";
import { listenNode } from "./server-node.ts";
import { slowSuite } from "./testing/slow.suite.ts";
import { smugglingSuite } from "./testing/smuggling.suite.ts";

describe("uWebSockets.js", () => {
  smugglingSuite(listenUws);
  slowSuite(listenUws);
});

describe("node:http", () => {
  smugglingSuite(listenNode);
  slowSuite(listenNode);
});
