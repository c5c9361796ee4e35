// Regular expressions cost a number of steps that grows with the length of the text, and no faster: what they read is foreign.
import { createRequire } from "node:module";
import { isTest, parse, sources, text, walk } from "./sources.mjs";

/** Not part of what people run. */
const OUTSIDE = /^(bench|demo|docker|scripts)\/|^[^/]+\.config\.ts$/;
/** Patterns that are put together when the program runs: where, and of what. */
const COMPOSED = {
  "api/document/examples.ts": "patterns of the document's own schemas, on examples of ours",
  "api/endpoints/params.ts": "the prefix of an id, `^prefix_[0-9]+$`",
  "api/schemas/tests.ts": "the prefix of an id, for the document",
  "api/schemas/words.ts": "the prefix of an id, for the document",
  "store/results/embedded/statement.ts": "the name of a query parameter, an identifier, on statements of ours",
};
/** Expressions that may grow faster, each as `/pattern/flags`, with the bound on what they read. */
const BOUNDED = {};

/** A proof, which most expressions have in milliseconds; ms. */
const PROOF = { checker: "automaton", timeout: 1_000 };
/** A search for an attack where there is no proof, bounded by steps and never by time: a busy machine must decide nothing. */
const SEARCH = {
  checker: "fuzz",
  timeout: 120_000,
  randomSeed: 1,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  recallTimeout: null,
};
/** At a time: the analyser has threads of its own. */
const LANES = 2;

export async function superLinear() {
  const paths = sources().filter((path) => /\.(ts|mjs|cjs)$/.test(path) && !isTest(path) && !OUTSIDE.test(path));
  const found = expressionsOf(new Map(paths.map((path) => [path, text(path)])));
  const stale = [
    ...Object.keys(COMPOSED).filter((path) => !found.composed.some((one) => one.path === path)),
    ...Object.keys(BOUNDED).filter((key) => !found.literals.has(key)),
  ];
  return [
    ...found.composed
      .filter(({ path }) => COMPOSED[path] === undefined)
      .map(({ place }) => `${place} puts a pattern together: write it as a literal, or list it with its reason`),
    ...stale.map((key) => `scripts/verify/expressions.mjs lists ${key}, which is not there`),
    ...(await findingsOf(found.literals)),
  ];
}

/**
 * @param texts sources by path
 * @returns literals by `/pattern/flags` with the first place of each, and places where one is put together
 */
export function expressionsOf(texts) {
  const literals = new Map();
  const composed = [];
  const add = (pattern, flags, place) => {
    const key = `/${pattern}/${flags}`;
    if (!literals.has(key)) literals.set(key, { pattern, flags, place });
  };
  for (const [path, source] of texts) {
    const { module, line } = parse(source, path.endsWith(".tsx"));
    walk(module, (node) => {
      const place = () => `${path}:${line(node)}`;
      if (node.type === "RegExpLiteral") add(node.pattern, node.flags, place());
      if (node.type !== "NewExpression" && node.type !== "CallExpression") return;
      const [first] = node.arguments ?? [];
      // match("a+") and search("a+") make an expression of the text.
      const isTaking = ["match", "matchAll", "search"].includes(node.callee.property?.value);
      if (node.callee.value !== "RegExp" && !(isTaking && first?.expression.type === "StringLiteral")) return;
      if (first?.expression.type === "StringLiteral") {
        const flags = node.arguments[1]?.expression;
        add(first.expression.value, flags?.type === "StringLiteral" ? flags.value : "", place());
      } else composed.push({ path, place: place() });
    });
  }
  return { literals, composed };
}

/** @param literals as expressionsOf() returns them. @returns a line for each that grows faster than the text, or that nothing can be said of */
export async function findingsOf(literals) {
  const { check } = analyser();
  const queue = [...literals].filter(([key]) => BOUNDED[key] === undefined);
  const findings = [];
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [key, { pattern, flags, place }] = next;
      const proof = await check(pattern, flags, PROOF);
      const result = proof.status === "unknown" ? await check(pattern, flags, SEARCH) : proof;
      if (result.status === "vulnerable") findings.push(`${place} ${key} is ${result.complexity.summary}`);
      if (result.status === "unknown") findings.push(`${place} ${key} cannot be judged (${result.error.kind})`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return findings.sort();
}

/** recheck as a program where there is one for this machine, else as JavaScript, which takes ten times as long. */
function analyser() {
  const require = createRequire(import.meta.url);
  const isNative = [`recheck-${platform()}-${process.arch}`].some((name) => {
    try {
      return require.resolve(`${name}/package.json`) !== undefined;
    } catch {
      return false;
    }
  });
  process.env.RECHECK_BACKEND = isNative ? "native" : "pure";
  return require("recheck");
}

function platform() {
  return { darwin: "macos", win32: "windows" }[process.platform] ?? process.platform;
}
