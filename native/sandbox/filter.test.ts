import { describe, expect, it } from "vitest";
import { type Call, needNumber } from "./calls.ts";
import { type FilterOptions, filterFor } from "./filter.ts";
import type { Arch } from "./image.ts";

const ALLOW = 0x7fff_0000;
const AUDIT: Readonly<Record<Arch, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
const OWN_PID = 4_711;

/** Classic BPF as the kernel runs it (Documentation/networking/filter.rst), for the few instructions that are used. */
function verdict(program: Buffer, data: Buffer): number {
  let kept = 0;
  for (let at = 0; ; at++) {
    const [code, onTrue, onFalse] = [program.readUInt16LE(at * 8), program[at * 8 + 2] ?? 0, program[at * 8 + 3] ?? 0];
    const k = program.readUInt32LE(at * 8 + 4);
    if (code === 0x20) kept = data.readUInt32LE(k);
    else if (code === 0x54) kept = (kept & k) >>> 0;
    else if (code === 0x15) at += kept === k ? onTrue : onFalse;
    else if (code === 0x45) at += (kept & k) !== 0 ? onTrue : onFalse;
    else if (code === 0x35) at += kept >= k ? onTrue : onFalse;
    else if (code === 0x06) return k;
    else throw new Error(`no instruction: ${code}`);
  }
}

describe.each(["x64", "arm64"] as const)("the filter of %s", (arch) => {
  function asked(
    name: Call | number,
    args: readonly number[] = [],
    options: FilterOptions = { mayUseDatagrams: false },
  ): number {
    const { program, ownPidAt } = filterFor(arch, options);
    for (const at of ownPidAt) program.writeUInt32LE(OWN_PID, at);
    const data = Buffer.alloc(64);
    data.writeUInt32LE(typeof name === "number" ? name : needNumber(arch, name), 0);
    data.writeUInt32LE(AUDIT[arch], 4);
    args.forEach((value, index) => {
      data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + index * 8);
    });
    return verdict(program, data);
  }
  const refused = (errno: number): number => 0x0005_0000 + errno;

  it("refuses what a child has no business with, and nothing that Go and Node live by", () => {
    const never: readonly Call[] = [
      "ptrace",
      "process_vm_readv",
      "bpf",
      "unshare",
      "mount",
      "keyctl",
      "io_uring_setup",
      "pidfd_getfd",
      "tkill",
    ];
    for (const name of never) expect([name, asked(name)]).toEqual([name, refused(1)]);
    expect(asked("clone3")).toBe(refused(38));
    for (const name of ["execve", "getpid", "close", "prctl"] as const)
      expect([name, asked(name)]).toEqual([name, ALLOW]);
    // futex and epoll_pwait.
    for (const number of arch === "x64" ? [202, 281] : [98, 22]) expect(asked(number)).toBe(ALLOW);
  });

  it("knows no other architecture's numbers", () => {
    const { program } = filterFor(arch, { mayUseDatagrams: true });
    const data = Buffer.alloc(64);
    // i386
    data.writeUInt32LE(0x4000_0003, 4);
    expect(verdict(program, data)).toBe(refused(1));
    if (arch === "x64") expect(asked(0x4000_0000 + 39)).toBe(refused(38));
  });

  it("lets threads be made, and no namespaces", () => {
    // Go's threads: CLONE_VM | FS | FILES | SIGHAND | SYSVSEM | THREAD; a fork of glibc's.
    expect(asked("clone", [0x0005_0f00])).toBe(ALLOW);
    expect(asked("clone", [0x0120_0011])).toBe(ALLOW);
    for (const flag of [0x1000_0000, 0x2000_0000, 0x4000_0000, 0x0002_0000])
      expect(asked("clone", [flag | 17])).toBe(refused(1));
  });

  it("lets it signal itself alone", () => {
    for (const name of ["kill", "tgkill"] as const) {
      expect(asked(name, [OWN_PID, 9])).toBe(ALLOW);
      for (const other of [1, 0, -1, OWN_PID + 1])
        expect([name, other, asked(name, [other, 9])]).toEqual([name, other, refused(1)]);
    }
  });

  it.each([
    ["TCP", [2, 1, 0], ALLOW, ALLOW],
    ["TCP over IPv6, as Go asks for it", [10, 1 | 0x8_0000 | 0x800, 6], ALLOW, ALLOW],
    ["MPTCP", [2, 1, 262], refused(93), refused(93)],
    ["SCTP", [2, 1, 132], refused(93), refused(93)],
    ["UDP", [2, 2, 0], refused(1), ALLOW],
    ["UDP over IPv6", [10, 2 | 0x8_0000, 17], refused(1), ALLOW],
    ["UDP-Lite", [2, 2, 136], refused(1), refused(1)],
    ["ping", [2, 2, 1], refused(1), refused(1)],
    ["raw", [2, 3, 255], refused(1), refused(1)],
    ["unix", [1, 1, 0], refused(97), refused(97)],
    ["packets", [17, 3, 3], refused(97), refused(97)],
    ["vsock", [40, 1, 0], refused(97), refused(97)],
    ["the kernel's cipher", [38, 5, 0], refused(97), refused(97)],
    ["routes", [16, 3, 0], ALLOW, ALLOW],
    ["netfilter", [16, 3, 12], refused(93), refused(93)],
  ])("sockets of %s", (_, args, without, withDatagrams) => {
    expect([asked("socket", args), asked("socket", args, { mayUseDatagrams: true })]).toEqual([without, withDatagrams]);
  });

  it("lets no message open a connection", () => {
    expect([asked("sendto", [3, 0, 0, 0x4000]), asked("sendmsg", [3, 0, 0x4000])]).toEqual([ALLOW, ALLOW]);
    const fastOpen = 0x2000_0000;
    expect(asked("sendto", [3, 0, 0, fastOpen])).toBe(refused(1));
    expect(asked("sendmsg", [3, 0, fastOpen])).toBe(refused(1));
    expect(asked("sendmmsg", [3, 0, 1, fastOpen])).toBe(refused(1));
  });
});
