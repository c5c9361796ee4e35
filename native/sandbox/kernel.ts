/** The system calls that a sandbox is made with, by FFI, on 64-bit little-endian Linux; null elsewhere. Numbers in, numbers out. */
import { createRequire } from "node:module";
import { needNumber } from "./calls.ts";
import type { Arch } from "./image.ts";

/** Each returns what the call returns: -1 means that errno() says why. */
export interface Kernel {
  readonly arch: Arch;
  landlockCreateRuleset(attributes: Uint8Array | null, bytes: number, flags: number): number;
  landlockAddRule(ruleset: number, type: number, rule: Uint8Array): number;
  /** @returns a descriptor of an empty file in memory */
  memfdCreate(name: string, flags: number): number;
  prctl(option: number, value: number): number;
  errno(): number;
}

let loaded: Kernel | null | undefined;

export function loadKernel(): Kernel | null {
  loaded ??= load();
  return loaded;
}

function load(): Kernel | null {
  const { platform, arch } = process;
  if (platform !== "linux" || (arch !== "x64" && arch !== "arm64")) return null;
  try {
    const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
    const library = koffi.load(null);
    const create = library.func("syscall", "long", ["long", "uint8_t *", "size_t", "uint32_t"]);
    const add = library.func("syscall", "long", ["long", "int", "int", "uint8_t *", "uint32_t"]);
    const memfd = library.func("syscall", "long", ["long", "const char *", "uint32_t"]);
    const control = library.func("prctl", "int", [
      "int",
      "unsigned long",
      "unsigned long",
      "unsigned long",
      "unsigned long",
    ]);
    const [createCall, addCall, memfdCall] = (
      ["landlock_create_ruleset", "landlock_add_rule", "memfd_create"] as const
    ).map((name) => needNumber(arch, name));
    return {
      arch,
      landlockCreateRuleset: (attributes, bytes, flags) => Number(create(createCall, attributes, bytes, flags)),
      landlockAddRule: (ruleset, type, rule) => Number(add(addCall, ruleset, type, rule, 0)),
      memfdCreate: (name, flags) => Number(memfd(memfdCall, name, flags)),
      prctl: (option, value) => control(option, value, 0, 0, 0) as number,
      errno: () => koffi.errno(),
    };
  } catch {
    return null;
  }
}
