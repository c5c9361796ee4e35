/** The page, before both servers. */
import { describe } from "vitest";
import { siteSuite } from "../testkit/api/site.suite.ts";

describe("uWebSockets.js", () => siteSuite("uws"));

describe("node:http", () => siteSuite("node"));
