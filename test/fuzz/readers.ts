/** The readers that the tree exports, and how often a run has called each. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Where everything that is read is foreign: any reader there is fuzzed, and any class that takes bytes in pieces. */
const PROTOCOLS = "engine/protocols/";
/** Of the product. */
const FOLDERS = ["api", "checker", "cli", "engine", "model", "native", "roles", "scheduler", "store"] as const;
const READER =
  /^(decode|parse|read|open)[A-Z]|(Reader|Parser|Opener|Receiver|Replies|Watch|Channel|Session|Jar|Peer|Answer)$/;
const PARSER =
  /^(decode|parse)[A-Z]|^(entriesOf|targetOf|protocolOfFile|KeyExchangeWatch|VerifyAnswer|CoreLog|Head|readOutcome|readTunnelFacts|readSpec|readObject|readCheck|readDraft|readQuery|readRegion|readStatement|readProxy|readList|readTunnelChange)$/;
const DECLARED = /^export (?:async )?(?:function\*?|class|const) (\w+)/gm;

/** `file name` of readers that no target calls, and why. */
export const NOT_FUZZED: Readonly<Record<string, string>> = {
  "engine/protocols/http/content-coding.ts decodeContent":
    "zlib answers on a thread of its own, and targets do not wait; content-coding.test.ts has its properties",
  "engine/protocols/openconnect/refusals.ts refusedSession": "reads nothing: a fault in words",
  "scheduler/judge/spool-line.ts parseLine": "JSON that this process wrote, out of a frame with a checksum",
  "cli/bulk/list.ts readList": "entriesOf() under larger bounds; the targets of lists call it",
};

/** @returns `file name` of each reader that the tree exports. @param root of the repository */
export function readersIn(root: string): readonly string[] {
  const paths = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`),
  ).filter((path) => path.endsWith(".ts") && !/\.(test|suite)\.ts$/.test(path));
  return paths.flatMap((path) => {
    const pattern = path.startsWith(PROTOCOLS) ? READER : PARSER;
    const declared = [...readFileSync(join(root, path), "utf8").matchAll(DECLARED)].map(([, name = ""]) => name);
    return declared.filter((name) => pattern.test(name)).map((name) => `${path} ${name}`);
  });
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
}

/** @param folder of NODE_V8_COVERAGE. @returns calls by `file name` */
export function callsIn(folder: string, root: string): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  const base = pathToFileURL(`${root}/`).href;
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), "utf8")) as Coverage;
    for (const { url, functions } of result) {
      if (!url.startsWith(base)) continue;
      for (const { functionName, ranges } of functions) {
        const key = `${url.slice(base.length)} ${functionName}`;
        calls.set(key, (calls.get(key) ?? 0) + (ranges[0]?.count ?? 0));
      }
    }
  }
  return calls;
}

/** Of a class the method that is called most often counts. @param reader `file name` */
export function callsOf(reader: string, calls: ReadonlyMap<string, number>, root: string): number {
  const [path = "", name = ""] = reader.split(" ");
  const [, body = ""] =
    new RegExp(`^export class ${name}\\b[^]*?\\{\\n([^]*?)^\\}`, "m").exec(readFileSync(join(root, path), "utf8")) ??
    [];
  const methods = [...body.matchAll(/^ {2}(?:get |async |\*)?(\w+)\(/gm)].map(([, method = ""]) => method);
  return Math.max(...[name, ...methods].map((one) => calls.get(`${path} ${one}`) ?? 0));
}
