/** The shared suite on node:http. */
import { authSuite } from "./testing/auth.suite.ts";
import { hostileSuite } from "./testing/hostile.suite.ts";
import { listsSuite } from "./testing/lists.suite.ts";
import { monitorsSuite } from "./testing/monitors.suite.ts";
import { publicSuite } from "./testing/public.suite.ts";
import { resultsSuite } from "./testing/results.suite.ts";

authSuite("node");
monitorsSuite("node");
listsSuite("node");
resultsSuite("node");
publicSuite("node");
hostileSuite("node");
