/** Subscriptions in one process on embedded stores. */
import { subscriptionsSuite } from "./subscriptions.suite.ts";

subscriptionsSuite("embedded stores", undefined, true);
