/** Passkeys, before both servers. */
import { describe } from "vitest";
import { passkeysSuite } from "../testkit/api/passkeys.suite.ts";

describe("node:net", () => passkeysSuite("net"));

describe("node:http", () => passkeysSuite("node"));
