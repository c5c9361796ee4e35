import { describe, expect, it } from "vitest";
import { type Call, needNumber } from "./calls.ts";
import { brokerFilter, type FilterOptions, filterFor } from "./filter.ts";
import type { Arch } from "./image.ts";

const ALLOW = 0x7fff_0000;
const AUDIT: Readonly<Record<Arch, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
const NOTIFY = 0x7fc0_0000;
const OWN_PID = 4_711;
const OPTIONS: FilterOptions = { mayUseDatagrams: false, reach: "any", routes: "any" };

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
  function asked(name: Call | number, args: readonly number[] = [], options: Partial<FilterOptions> = {}): number {
    const { program, ownPidAt } = filterFor(arch, { ...OPTIONS, ...options });
    for (const at of ownPidAt) program.writeUInt32LE(OWN_PID, at);
    return verdictOn(program, name, args);
  }
  function verdictOn(program: Buffer, name: Call | number, args: readonly number[]): number {
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
    const { program } = filterFor(arch, { ...OPTIONS, mayUseDatagrams: true });
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

  it("makes no pairs of unix sockets, and asks for routes only where that is needed", () => {
    expect(asked("socketpair", [1, 2, 0])).toBe(refused(97));
    expect(asked("socket", [16, 3, 0], { routes: "none" })).toBe(refused(97));
  });

  it("lets nothing be heard of routes, and leaves the internet's addresses alone", () => {
    const routes = "unheard";
    expect(asked("socket", [16, 3 | 0x8_0800, 0], { routes })).toBe(ALLOW);
    // It returns 0.
    expect(asked("bind", [3, 0x1000, 12], { routes })).toBe(refused(0));
    expect(asked("sendto", [3, 0, 0, 0, 0x1000, 12], { routes })).toBe(refused(1));
    for (const length of [16, 28]) {
      expect(asked("bind", [3, 0x1000, length], { routes })).toBe(ALLOW);
      expect(asked("sendto", [3, 0, 0, 0, 0x1000, length], { routes })).toBe(ALLOW);
    }
    expect(asked("sendto", [3, 0, 0, 0x2000_0000, 0x1000, 16], { routes })).toBe(refused(1));
    for (const all of ["any", "none"] as const)
      expect([
        asked("bind", [3, 0x1000, 12], { routes: all }),
        asked("sendto", [3, 0, 0, 0, 0, 12], { routes: all }),
      ]).toEqual([ALLOW, ALLOW]);
  });

  it("connects to nothing where nothing is to be reached", () => {
    expect([asked("connect"), asked("connect", [], { reach: "none" })]).toEqual([ALLOW, refused(13)]);
  });

  describe("of a child that is brokered", () => {
    const brokered: Partial<FilterOptions> = { mayUseDatagrams: true, reach: "brokered" };
    const told = (name: Call | number, args: readonly number[], mayUseDatagrams = true): number =>
      verdictOn(brokerFilter(arch, mayUseDatagrams), name, args);

    it("tells of every connection", () => {
      expect([told("connect", [3]), told("connect", [3], false)]).toEqual([NOTIFY, NOTIFY]);
      expect([told("execve", []), told("getpid", []), told("seccomp", [1, 0])]).toEqual([ALLOW, ALLOW, ALLOW]);
    });

    it("tells of sockets of datagrams, and of what they send to a name", () => {
      const all: readonly [Call, readonly number[], number][] = [
        ["socket", [2, 2 | 0x8_0800, 0], NOTIFY],
        ["socket", [10, 2, 17], NOTIFY],
        ["socket", [2, 1, 0], ALLOW],
        ["socket", [16, 3, 0], ALLOW],
        ["sendto", [3, 0, 0, 0, 0, 16], ALLOW],
        ["sendto", [3, 0, 0, 0, 0x7fff_0000_1000, 16], NOTIFY],
        ["sendto", [3, 0, 0, 0, 0x1_0000_0000, 16], NOTIFY],
        ["sendto", [3, 0, 0, 0, 0x1000, 28], NOTIFY],
        // struct sockaddr_nl; too short for the internet.
        ["sendto", [3, 0, 0, 0, 0x1000, 12], ALLOW],
        ["sendmsg", [3, 0x1000, 0], NOTIFY],
        ["sendmsg", [3, 0x1000, 0x4000], NOTIFY],
        ["sendmsg", [3, 0x1000, 0x4080], ALLOW],
      ];
      for (const [name, args, expected] of all) {
        expect([name, args, told(name, args)]).toEqual([name, args, expected]);
        expect([name, args, told(name, args, false)]).toEqual([name, args, ALLOW]);
      }
    });

    it("hands its listener over once, and installs no filter after that", () => {
      expect(asked("sendmsg", [3, 0, 0x4080], brokered)).toBe(refused(1));
      expect(asked("sendmsg", [3, 0, 0x2000_0000], brokered)).toBe(refused(1));
      expect(asked("sendmsg", [3, 0, 0x40], brokered)).toBe(ALLOW);
      expect(asked("sendmmsg", [3, 0, 1, 0], brokered)).toBe(refused(38));
      expect(asked("seccomp", [1, 0], brokered)).toBe(refused(1));
      expect([asked("prctl", [22, 2], brokered), asked("prctl", [15], brokered)]).toEqual([refused(1), ALLOW]);
    });

    it.each([
      ["no delay", 6, 1, true],
      ["keep alive", 1, 9, true],
      ["IPv6 only", 41, 26, true],
      ["segments", 17, 103, true],
      ["IP options, which hold source routes", 0, 4, false],
      ["a multicast group", 0, 35, false],
      ["an interface by number", 0, 50, false],
      ["a device", 1, 25, false],
      ["a routing header", 41, 57, false],
      ["sticky options of IPv6", 41, 6, false],
      ["a mark", 1, 36, false],
      ["fast open", 6, 30, false],
      ["an upper protocol", 6, 31, false],
      ["netlink", 270, 1, false],
    ])("sets %s or not", (_, level, name, isAllowed) => {
      expect(asked("setsockopt", [3, level, name], brokered)).toBe(isAllowed ? ALLOW : refused(92));
      expect(asked("setsockopt", [3, level, name])).toBe(ALLOW);
    });
  });

  it("lets no message open a connection", () => {
    expect([asked("sendto", [3, 0, 0, 0x4000]), asked("sendmsg", [3, 0, 0x4000])]).toEqual([ALLOW, ALLOW]);
    const fastOpen = 0x2000_0000;
    expect(asked("sendto", [3, 0, 0, fastOpen])).toBe(refused(1));
    expect(asked("sendmsg", [3, 0, fastOpen])).toBe(refused(1));
    expect(asked("sendmmsg", [3, 0, 1, fastOpen])).toBe(refused(1));
  });
});
