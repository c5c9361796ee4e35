/** The search for secrets on the stores of a data folder. */
import { noSecretSuite } from "./no-secret.suite.ts";

noSecretSuite("embedded stores", async () => ({ settings: {}, dump: async () => ({}) }));
