/** The shared suite on uWebSockets.js. */
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

authSuite("uws");
accountSuite("uws");
keysSuite("uws");
monitorsSuite("uws");
tunnelsSuite("uws");
subscriptionsSuite("uws");
listsSuite("uws");
resultsSuite("uws");
testsSuite("uws");
checksSuite("uws");
publicSuite("uws");
hostileSuite("uws");
methodsSuite("uws");
