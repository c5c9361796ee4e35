// Tells test.mjs of errors that belong to no test: vitest's JSON report leaves them out, and a second look at a file does not excuse them.
import { writeFileSync } from "node:fs";

// biome-ignore lint/style/noDefaultExport: vitest takes a reporter from the default export
export default class UnhandledReporter {
  onTestRunEnd(_modules, errors) {
    writeFileSync(process.env.SONDE_TEST_UNHANDLED, String(errors.length));
  }
}
