/** The shared suite on node:http. */
import { accountSuite } from "./testing/account.suite.ts";
import { authSuite } from "./testing/auth.suite.ts";
import { checksSuite } from "./testing/checks.suite.ts";
import { hostileSuite } from "./testing/hostile.suite.ts";
import { keysSuite } from "./testing/keys.suite.ts";
import { listsSuite } from "./testing/lists.suite.ts";
import { methodsSuite } from "./testing/methods.suite.ts";
import { monitorsSuite } from "./testing/monitors.suite.ts";
import { publicSuite } from "./testing/public.suite.ts";
import { resultsSuite } from "./testing/results.suite.ts";
import { subscriptionsSuite } from "./testing/subscriptions.suite.ts";
import { testsSuite } from "./testing/tests.suite.ts";
import { tunnelsSuite } from "./testing/tunnels.suite.ts";

authSuite("node");
accountSuite("node");
keysSuite("node");
monitorsSuite("node");
tunnelsSuite("node");
subscriptionsSuite("node");
listsSuite("node");
resultsSuite("node");
testsSuite("node");
checksSuite("node");
publicSuite("node");
hostileSuite("node");
methodsSuite("node");
