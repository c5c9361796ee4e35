/** What a first load costs, of the page as it is built. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

const BUILT = new URL("../../dist/web/", import.meta.url);
const KB = 1_000;
/** Compressed, bytes. */
const MOST = { script: 60 * KB, style: 12 * KB, chart: 25 * KB, lazy: 15 * KB } as const;
/** The document, its script, its style, the icons, and one more. */
const MOST_REQUESTS = 5;

const read = (name: string) => readFileSync(new URL(name, BUILT));
const packed = (name: string) => gzipSync(read(name), { level: 9 }).length;

it("is built", () => {
  expect(existsSync(BUILT), `${fileURLToPath(BUILT)} is missing: run \`npm run build\` first`).toBe(true);
});

it("loads little, from few files, and nothing inline", () => {
  const html = read("index.html").toString();
  const files = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name = ""]) => name);
  const sum = (extension: string) =>
    files.filter((name) => name.endsWith(extension)).reduce((bytes, name) => bytes + packed(name), 0);
  expect(files.length).toBeGreaterThan(0);
  expect(files.length + 2).toBeLessThanOrEqual(MOST_REQUESTS);
  expect(sum(".js")).toBeLessThanOrEqual(MOST.script);
  expect(sum(".css")).toBeLessThanOrEqual(MOST.style);
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/);
});

it("loads the chart and each further screen when it is needed", () => {
  const first = read("index.html").toString();
  const scripts = readdirSync(new URL("assets/", BUILT)).filter(
    (name) => name.endsWith(".js") && !first.includes(name),
  );
  const chart = scripts.filter((name) => name.startsWith("chart-"));
  expect(chart).toHaveLength(1);
  for (const name of scripts)
    expect(packed(`assets/${name}`), name).toBeLessThanOrEqual(chart.includes(name) ? MOST.chart : MOST.lazy);
});

it("has compressed twins of what is worth it", () => {
  const names = readdirSync(new URL("assets/", BUILT));
  for (const name of names.filter((file) => /\.(js|css|svg)$/.test(file)))
    if (read(`assets/${name}`).length >= 512)
      expect(names).toEqual(expect.arrayContaining([`${name}.gz`, `${name}.br`]));
});
