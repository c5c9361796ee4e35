/** Programs of test/fixtures as one file each: one that is started again and again would load hundreds of modules every time. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const { isBundled } = (await import(new URL("../scripts/bundled-packages.mjs", import.meta.url).href)) as {
  isBundled(id: string): boolean;
};
const FOLDER = fileURLToPath(new URL("../node_modules/.cache/sonde/programs", import.meta.url));

/** A module finds what is beside it by its own address, which it keeps. */
const addresses = {
  name: "addresses",
  transform: (code: string, id: string) =>
    code.includes("import.meta.url")
      ? code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
      : null,
};

/** @param program its path. @returns where the one file of it is */
export async function bundled(program: string): Promise<string> {
  const bundle = await rolldown({
    input: program,
    platform: "node",
    external: (id) => !/^[./]/.test(id) && !isBundled(id),
    plugins: [addresses],
    logLevel: "warn",
  });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
  await bundle.close();
  mkdirSync(FOLDER, { recursive: true });
  const file = join(FOLDER, basename(program));
  // Another worker may make the same one now.
  writeFileSync(`${file}.${process.pid}`, output[0].code);
  renameSync(`${file}.${process.pid}`, file);
  return file;
}
