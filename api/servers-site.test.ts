/** The page, before both servers. */
import { describe } from "vitest";
import { siteSuite } from "../testkit/api/site.suite.ts";

describe("node:net", () => siteSuite("net"));

describe("node:http", () => siteSuite("node"));
