/** Ids of another workspace in every path, query and body. */
import { foreignSuite } from "../testkit/api/foreign.suite.ts";

foreignSuite("net");
