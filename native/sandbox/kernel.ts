/** The system calls that a sandbox is made with, by FFI, on 64-bit little-endian Linux; null elsewhere. Numbers in, numbers out. */
import { createRequire } from "node:module";
import { type Call, needNumber } from "./calls.ts";
import type { Arch } from "./image.ts";

/** Each returns what the call returns: -1 means that errno() says why. */
export interface Kernel {
  readonly arch: Arch;
  landlockCreateRuleset(attributes: Uint8Array | null, bytes: number, flags: number): number;
  landlockAddRule(ruleset: number, type: number, rule: Uint8Array): number;
  /** @returns a descriptor of an empty file in memory */
  memfdCreate(name: string, flags: number): number;
  prctl(option: number, value: number): number;
  /** seccomp(2) without a filter: fails with EFAULT where the kernel knows the flags, else with EINVAL. */
  seccompFlags(flags: number): number;
  /** Makes the calling thread, and no other of the process, this user and group without further groups and without capabilities. */
  becomeUser(id: number): number;
  errno(): number;
}

/** linux/seccomp.h */
const SECCOMP_SET_MODE_FILTER = 1;

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
    const number = (name: Call): number => needNumber(arch, name);
    const filter = library.func("syscall", "long", ["long", "unsigned int", "unsigned int", "uint8_t *"]);
    // glibc's own functions change every thread of the process.
    const ids = library.func("syscall", "long", ["long", "long", "long", "long"]);
    const become = (id: number): number => {
      if (Number(ids(number("setgroups"), 0, 0, 0)) !== 0) return -1;
      if (Number(ids(number("setresgid"), id, id, id)) !== 0) return -1;
      return Number(ids(number("setresuid"), id, id, id));
    };
    return {
      arch,
      landlockCreateRuleset: (attributes, bytes, flags) =>
        Number(create(number("landlock_create_ruleset"), attributes, bytes, flags)),
      landlockAddRule: (ruleset, type, rule) => Number(add(number("landlock_add_rule"), ruleset, type, rule, 0)),
      memfdCreate: (name, flags) => Number(memfd(number("memfd_create"), name, flags)),
      prctl: (option, value) => control(option, value, 0, 0, 0) as number,
      seccompFlags: (flags) => Number(filter(number("seccomp"), SECCOMP_SET_MODE_FILTER, flags, null)),
      becomeUser: become,
      errno: () => koffi.errno(),
    };
  } catch {
    return null;
  }
}
