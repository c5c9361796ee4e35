/** The authorisation matrix over THE LIST of routes. */
import { matrixSuite } from "./testing/matrix.suite.ts";

matrixSuite("uws");
