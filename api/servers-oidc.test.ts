/** Signing in at a provider of identities, before both servers. */
import { describe } from "vitest";
import { oidcSuite } from "../testkit/api/oidc.suite.ts";

describe("node:net", () => oidcSuite("net"));

describe("node:http", () => oidcSuite("node"));
