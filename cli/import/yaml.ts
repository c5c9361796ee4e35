/** YAML of other programs, read with bounds: what is too large, nested too deeply or refers to itself too often is refused with file and line. */
import { binaryTag, CORE_SCHEMA, load, mergeTag, YAMLException } from "js-yaml";
import { ImportError, type ImportFile } from "./importer.ts";

/** Configurations share a block or two of settings among their entries; more is a bomb. */
const MOST_ALIASES = 200;
/** Values of one file, those behind aliases counted each time. A file of 1 MiB has about 200,000. */
const MOST_VALUES = 500_000;
/** Levels; configurations have about ten. */
const DEEPEST = 64;
const SCHEMA = CORE_SCHEMA.withTags(mergeTag, binaryTag);

/** @throws ImportError naming file and line */
export function readYaml({ name, text }: ImportFile): unknown {
  try {
    const value: unknown = load(text, { schema: SCHEMA, maxAliases: MOST_ALIASES, maxDepth: DEEPEST });
    refuseBomb(value, name);
    return value;
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new ImportError(`${name}: ${faultOf(error)}`, "mend it there, or name another file");
  }
}

/** @throws ImportError naming file and place */
export function readJson({ name, text }: ImportFile): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ImportError(
      `${name}: it is not JSON (${(error as Error).message.slice(0, 200)})`,
      "save it again as it comes, whole",
    );
  }
}

function faultOf(error: unknown): string {
  if (!(error instanceof YAMLException)) return "it is YAML that cannot be read";
  const line = error.mark === undefined ? "" : `line ${error.mark.line + 1}: `;
  return `${line}it is YAML that cannot be read (${error.reason.slice(0, 200)})`;
}

/** Aliases make a small text a large value. */
function refuseBomb(value: unknown, name: string): void {
  const rest: unknown[] = [value];
  let count = 0;
  while (rest.length > 0) {
    const one = rest.pop();
    count += 1;
    if (count > MOST_VALUES)
      throw new ImportError(
        `${name}: its aliases stand for more than ${MOST_VALUES} values`,
        "write out what its aliases repeat, in several files",
      );
    if (typeof one === "object" && one !== null) for (const inner of Object.values(one)) rest.push(inner);
  }
}
