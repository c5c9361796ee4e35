// Names that say nothing to a reader who is new: parameters that name no thing, and words of ours where the field has one.
import { parse, sources, text, walk } from "./sources.mjs";

/** "What was passed", which is true of every parameter. */
const PARAMETERS = new Set(["given", "told", "own"]);
/** Ends of a type's name; architecture.md and the glossary have the words that stand for them. */
const TYPES =
  /(?:Place|Places|End|Desk|Lane|Course|Errand|Holdings|Ledger|Vitals|Withheld|Holdback|Reputation|Surroundings|Works)$/;

export function privateNames() {
  const paths = sources().filter((path) => path.endsWith(".ts"));
  return namesIn(new Map(paths.map((path) => [path, text(path)])));
}

/** @param texts TypeScript by path. @returns a line for each name, of tests and suites too */
export function namesIn(texts) {
  return [...texts].flatMap(([path, source]) => {
    const { module, line } = parse(source);
    const found = [];
    walk(module, (node) => {
      for (const parameter of node.params ?? node.function?.params ?? []) {
        const name = nameOf(parameter.pat ?? parameter);
        if (PARAMETERS.has(name?.value)) found.push([line(name), `a parameter ${name.value}: name what it is`]);
      }
      const type = TYPE_DECLARATIONS.has(node.type) ? (node.id ?? node.identifier) : undefined;
      if (type !== undefined && TYPES.test(type.value))
        found.push([line(type), `a type ${type.value}: use the word of the field`]);
    });
    return found.map(([at, what]) => `${path}:${at} has ${what}`);
  });
}

const TYPE_DECLARATIONS = new Set(["TsInterfaceDeclaration", "TsTypeAliasDeclaration", "ClassDeclaration"]);

/** Of `name`, `name = 1` and `...name`; undefined for a pattern. */
function nameOf(pattern) {
  if (pattern.type === "AssignmentPattern") return nameOf(pattern.left);
  if (pattern.type === "RestElement") return nameOf(pattern.argument);
  return pattern.type === "Identifier" ? pattern : undefined;
}
