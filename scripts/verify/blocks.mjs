// Each block of commands in the documents is run by test/docs, or says why not.
import { FORM_ONLY_BLOCKS } from "./debts.mjs";
import { files, text } from "./sources.mjs";

const FENCE = /^ {0,3}```(\S*)/;
const SHELL = new Set(["sh", "bash", "shell", "console"]);
/** What test/docs/page.ts reads. */
const PLAN = /^<!-- (?:run(?:: [a-z ]+)?|form: .+) -->$/;
const FORM = /^<!-- form: /;

export function unclassifiedBlocks() {
  const pages = files().filter((path) => /^(?:README|CONTRIBUTING)\.md$|^docs\/.*\.md$/.test(path));
  return blockFaults(new Map(pages.map((path) => [path, text(path)])), FORM_ONLY_BLOCKS);
}

/** @param formOnly how many blocks may say why they are not run */
export function blockFaults(texts, formOnly) {
  const fences = [...texts].flatMap(([path, page]) => fencesOf(path, page));
  const count = fences.filter(({ language, before }) => SHELL.has(language) && FORM.test(before)).length;
  const faults = fences.flatMap(({ place, language, before }) => {
    if (language === "") return [`${place} has a fence that names no language: text, when it is none`];
    if (!SHELL.has(language) || PLAN.test(before)) return [];
    return [
      `${place} has commands without \`<!-- run -->\` or \`<!-- form: why -->\` before them (docs/develop/tests.md)`,
    ];
  });
  if (count > formOnly) faults.push(`${count} blocks of commands are not run, more than ${formOnly}`);
  if (count < formOnly) faults.push(`scripts/verify/debts.mjs: only ${count} blocks of commands are not run now`);
  return faults;
}

function fencesOf(path, page) {
  const lines = page.split("\n");
  let isInside = false;
  return lines.flatMap((line, at) => {
    const [, language] = FENCE.exec(line) ?? [];
    if (language === undefined) return [];
    isInside = !isInside;
    const before = (lines[at - 1]?.trim() || lines[at - 2] || "").trim();
    return isInside ? [{ place: `${path}:${at + 1}`, language, before }] : [];
  });
}
