/** The authorisation matrix over THE LIST of routes. */
import { matrixSuite } from "../testkit/api/matrix.suite.ts";

matrixSuite("net");
