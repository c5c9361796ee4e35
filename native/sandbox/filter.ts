/**
 * The seccomp filter of children: system calls that they have no business with fail, with EPERM where nothing else is said. A list of what is
 * refused, not of what is allowed: the children are a Go runtime and Node, whose next versions may call what these do not. Pure.
 *
 * Sources: Linux seccomp(2), linux/seccomp.h, linux/filter.h (classic BPF), linux/audit.h.
 */
import { type Call, callNumber, needNumber } from "./calls.ts";
import type { Arch } from "./image.ts";

/**
 * What a child may reach. `none`: it connects to nothing. `any`: seccomp does not look at addresses, which lie in memory. `brokered`: a broker of
 * ours (broker.ts) makes every connection in its place.
 */
export type Reach = "none" | "any" | "brokered";

/**
 * What a child may know of interfaces and routes (rtnetlink(7)). `unheard`: it gets its sockets, for programs that do not start without, but their
 * bind() does nothing, so that no news comes, and questions fail. It asks with sendto() alone, as Go and sing-box do.
 */
export type Routes = "none" | "unheard" | "any";

export interface FilterOptions {
  /** Whether it may open sockets of datagrams. Without them there is no DNS, and no way around rules for TCP. */
  readonly mayUseDatagrams: boolean;
  readonly reach: Reach;
  readonly routes: Routes;
}

export interface Filter {
  /** struct sock_filter, in a row. */
  readonly program: Buffer;
  /** Offsets in it where its own process id must be written, 32 bits, before it is installed. */
  readonly ownPidAt: readonly number[];
}

const REFUSED: readonly Call[] = [
  "ptrace",
  "process_vm_readv",
  "process_vm_writev",
  "process_madvise",
  "process_mrelease",
  "kcmp",
  "pidfd_open",
  "pidfd_getfd",
  "pidfd_send_signal",
  "tkill",
  "rt_sigqueueinfo",
  "rt_tgsigqueueinfo",
  "kexec_load",
  "kexec_file_load",
  "bpf",
  "perf_event_open",
  "userfaultfd",
  "io_uring_setup",
  "io_uring_enter",
  "io_uring_register",
  "add_key",
  "request_key",
  "keyctl",
  "unshare",
  "setns",
  "mount",
  "umount2",
  "pivot_root",
  "chroot",
  "move_mount",
  "open_tree",
  "fsopen",
  "fsconfig",
  "fsmount",
  "fspick",
  "mount_setattr",
  "name_to_handle_at",
  "open_by_handle_at",
  "fanotify_init",
  "init_module",
  "finit_module",
  "delete_module",
  "swapon",
  "swapoff",
  "reboot",
  "acct",
  "quotactl",
  "quotactl_fd",
  "syslog",
  "vhangup",
  "settimeofday",
  "clock_settime",
  "adjtimex",
  "clock_adjtime",
  "sethostname",
  "setdomainname",
  "modify_ldt",
  "iopl",
  "ioperm",
];

const AUDIT_ARCH: Readonly<Record<Arch, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
/** x86-64 numbers from here on are those of the x32 ABI, which is another way to the same calls. */
const X32_BIT = 0x4000_0000;

/** struct seccomp_data: nr, arch, instruction_pointer, args[6] of 64 bits. */
const NR_AT = 0;
const ARCH_AT = 4;
const argumentAt = (index: number): number => 16 + index * 8;

const RET_ALLOW = 0x7fff_0000;
/** The call is not made, and returns 0. */
const RET_NOTHING = 0x0005_0000;
const refuse = (errno: number): number => (0x0005_0000 | errno) >>> 0;
const EPERM = 1;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const EAFNOSUPPORT = 97;

/** linux/filter.h: load a word, jump if equal, jump if any bit, jump if greater or equal, keep bits, return. */
const LD = 0x20;
const JEQ = 0x15;
const JSET = 0x45;
const JGE = 0x35;
const AND = 0x54;
const RET = 0x06;

/** linux/seccomp.h: the broker is notified. */
const RET_USER_NOTIF = 0x7fc0_0000;
const ENOPROTOOPT = 92;
const EACCES = 13;

/** CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET (linux/sched.h). */
const CLONE_NAMESPACES =
  0x0000_0080 | 0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000;
/** A message that opens a connection passes connect(), and what judges it. */
const MSG_FASTOPEN = 0x2000_0000;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_TYPE_MASK = 0xf;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
const NETLINK_ROUTE = 0;
/** Other stream protocols, such as MPTCP and SCTP, pass by Landlock's rules for TCP. */
const IPPROTO_TCP = 6;
const IPPROTO_UDP = 17;

/** linux/prctl.h */
const PR_SET_SECCOMP = 22;
/**
 * MSG_EOR and MSG_NOSIGNAL: flags that no core uses together. With them, and before the second filter refuses them, the child hands its
 * listener to the broker.
 */
export const HANDING_FLAGS = 0x4080;
/** struct sockaddr_nl: shorter than any address that a socket of the internet accepts as a destination (16, 24). */
const SOCKADDR_NL_BYTES = 12;

/**
 * What a core may set on sockets: nothing that turns packets to another address (source routes, routing headers, interfaces), or that
 * sends packets by itself (multicast groups). Levels and names: socket.h, tcp.h, in.h, in6.h, udp.h of Linux on both architectures.
 */
const SOCKET_OPTIONS: readonly (readonly [level: number, names: readonly number[]])[] = [
  // REUSEADDR, BROADCAST, SNDBUF, RCVBUF, KEEPALIVE, LINGER, REUSEPORT, RCVTIMEO, SNDTIMEO, SNDBUFFORCE, RCVBUFFORCE.
  [1, [2, 6, 7, 8, 9, 13, 15, 20, 21, 32, 33]],
  // NODELAY, MAXSEG, CORK, KEEPIDLE, KEEPINTVL, KEEPCNT, QUICKACK, CONGESTION, USER_TIMEOUT, NOTSENT_LOWAT.
  [6, [1, 2, 3, 4, 5, 6, 12, 13, 18, 25]],
  // TOS, TTL, PKTINFO, MTU_DISCOVER, RECVERR, RECVTTL, RECVTOS.
  [0, [1, 2, 8, 10, 11, 12, 13]],
  // UNICAST_HOPS, MTU_DISCOVER, RECVERR, V6ONLY, RECVPKTINFO, RECVHOPLIMIT, DONTFRAG, RECVTCLASS, TCLASS.
  [41, [16, 23, 25, 26, 49, 51, 62, 66, 67]],
  // SEGMENT, GRO.
  [17, [103, 104]],
];

type Line = readonly [code: number, k: number, onTrue?: number, onFalse?: number];

/** What is refused. Where the child is brokered it is installed after brokerFilter(). */
export function filterFor(arch: Arch, options: FilterOptions): Filter {
  const lines: Line[] = [
    [LD, ARCH_AT],
    [JEQ, AUDIT_ARCH[arch], 1, 0],
    [RET, refuse(EPERM)],
    [LD, NR_AT],
  ];
  if (arch === "x64") lines.push([JGE, X32_BIT, 0, 1], [RET, refuse(ENOSYS)]);
  // Its flags lie in memory, which a filter cannot read; callers fall back to clone.
  lines.push(...onCall(arch, "clone3", [[RET, refuse(ENOSYS)]]));
  for (const name of REFUSED) {
    if (callNumber(arch, name) !== null) lines.push(...onCall(arch, name, [[RET, refuse(EPERM)]]));
  }
  lines.push(...onCall(arch, "clone", onBits(0, CLONE_NAMESPACES)));
  lines.push(...routesLines(arch, options.routes));
  lines.push(...onCall(arch, "sendto", onBits(3, MSG_FASTOPEN)));
  lines.push(...onCall(arch, "socket", socketLines(options)));
  // Pairs of unix datagram sockets can send to a path.
  lines.push(...onCall(arch, "socketpair", [[RET, refuse(EAFNOSUPPORT)]]));
  lines.push(...reachLines(arch, options.reach));
  const ownPidAt: number[] = [];
  for (const name of ["kill", "tgkill"] as const) {
    const rule = onCall(arch, name, [
      [LD, argumentAt(0)],
      [JEQ, 0, 1, 0],
      [RET, refuse(EPERM)],
      [RET, RET_ALLOW],
    ]);
    // k of the line that compares, the third: 4 bytes into it.
    ownPidAt.push((lines.length + 2) * LINE_BYTES + 4);
    lines.push(...rule);
  }
  lines.push([RET, RET_ALLOW]);
  return { program: assembled(lines), ownPidAt };
}

/**
 * The filter that notifies the broker of calls with an address, and, with datagrams, of those that make their sockets. The other filter's
 * refusals take precedence. Numbers of other architectures are left to that one.
 */
export function brokerFilter(arch: Arch, mayUseDatagrams: boolean): Buffer {
  const notify: readonly Line[] = [[RET, RET_USER_NOTIF]];
  const lines: Line[] = [
    [LD, ARCH_AT],
    [JEQ, AUDIT_ARCH[arch], 1, 0],
    [RET, RET_ALLOW],
    [LD, NR_AT],
    ...onCall(arch, "connect", notify),
  ];
  if (mayUseDatagrams) {
    lines.push(
      ...onCall(arch, "socket", [
        [LD, argumentAt(0)],
        [JEQ, AF_INET, 1, 0],
        [JEQ, AF_INET6, 0, 3],
        [LD, argumentAt(1)],
        [AND, SOCK_TYPE_MASK],
        [JEQ, SOCK_DGRAM, 1, 0],
        [RET, RET_ALLOW],
        ...notify,
      ]),
      // Without an address it goes where the socket is connected to.
      ...onCall(arch, "sendto", [
        [LD, argumentAt(4)],
        [JEQ, 0, 0, 2],
        [LD, argumentAt(4) + 4],
        [JEQ, 0, 2, 0],
        [LD, argumentAt(5)],
        [JEQ, SOCKADDR_NL_BYTES, 0, 1],
        [RET, RET_ALLOW],
        ...notify,
      ]),
      ...onCall(arch, "sendmsg", [[LD, argumentAt(2)], [JEQ, HANDING_FLAGS, 0, 1], [RET, RET_ALLOW], ...notify]),
    );
  }
  lines.push([RET, RET_ALLOW]);
  return assembled(lines);
}

const LINE_BYTES = 8;

function reachLines(arch: Arch, reach: Reach): readonly Line[] {
  if (reach !== "brokered") {
    return [
      ...onCall(arch, "sendmsg", onBits(2, MSG_FASTOPEN)),
      ...onCall(arch, "sendmmsg", onBits(3, MSG_FASTOPEN)),
      ...(reach === "none" ? onCall(arch, "connect", [[RET, refuse(EACCES)]]) : []),
    ];
  }
  return [
    // Another filter could receive, or answer, what is for the broker.
    ...onCall(arch, "seccomp", [[RET, refuse(EPERM)]]),
    ...onCall(arch, "prctl", [
      [LD, argumentAt(0)],
      [JEQ, PR_SET_SECCOMP, 0, 1],
      [RET, refuse(EPERM)],
      [RET, RET_ALLOW],
    ]),
    ...onCall(arch, "sendmsg", [
      [LD, argumentAt(2)],
      [JEQ, HANDING_FLAGS, 1, 0],
      [JSET, MSG_FASTOPEN, 0, 1],
      [RET, refuse(EPERM)],
      [RET, RET_ALLOW],
    ]),
    ...onCall(arch, "sendmmsg", [[RET, refuse(ENOSYS)]]),
    ...onCall(arch, "setsockopt", SOCKET_OPTION_LINES),
  ];
}

const SOCKET_OPTION_LINES: readonly Line[] = [
  [LD, argumentAt(1)],
  ...SOCKET_OPTIONS.flatMap(([level, names]): Line[] => {
    const rules = names.flatMap((name): Line[] => [
      [JEQ, name, 0, 1],
      [RET, RET_ALLOW],
    ]);
    return [[JEQ, level, 0, rules.length + 2], [LD, argumentAt(2)], ...rules, [RET, refuse(ENOPROTOOPT)]];
  }),
  [RET, refuse(ENOPROTOOPT)],
];

function onCall(arch: Arch, name: Call, then: readonly Line[]): readonly Line[] {
  return [[JEQ, needNumber(arch, name), 0, then.length], ...then];
}

/** Fails as not permitted when any of the bits is set in an argument. */
function onBits(argument: number, bits: number): readonly Line[] {
  return [
    [LD, argumentAt(argument)],
    [JSET, bits, 0, 1],
    [RET, refuse(EPERM)],
    [RET, RET_ALLOW],
  ];
}

/** Sockets of the internet, of streams (TCP alone) and datagrams; and questions about routes. No unix sockets: their paths are no files to Landlock. */
function socketLines({ mayUseDatagrams, routes }: FilterOptions): readonly Line[] {
  const other: readonly Line[] = [[RET, refuse(EAFNOSUPPORT)]];
  const ofProtocols = (protocols: readonly number[], errno: number): readonly Line[] => [
    [LD, argumentAt(2)],
    ...protocols.flatMap((protocol): Line[] => [
      [JEQ, protocol, 0, 1],
      [RET, RET_ALLOW],
    ]),
    [RET, refuse(errno)],
  ];
  const ofType = (type: number, then: readonly Line[]): readonly Line[] => [[JEQ, type, 0, then.length], ...then];
  const types = (...cases: (readonly Line[])[]): readonly Line[] => [
    [LD, argumentAt(1)],
    [AND, SOCK_TYPE_MASK],
    ...cases.flat(),
    [RET, refuse(EPERM)],
  ];
  const internet = types(
    ofType(SOCK_STREAM, ofProtocols([0, IPPROTO_TCP], EPROTONOSUPPORT)),
    ...(mayUseDatagrams ? [ofType(SOCK_DGRAM, ofProtocols([0, IPPROTO_UDP], EPERM))] : []),
  );
  const ofRoutes = types(
    ofType(SOCK_RAW, ofProtocols([NETLINK_ROUTE], EPROTONOSUPPORT)),
    ofType(SOCK_DGRAM, ofProtocols([NETLINK_ROUTE], EPROTONOSUPPORT)),
  );
  return [
    [LD, argumentAt(0)],
    ...(routes === "none" ? [] : ofType(AF_NETLINK, ofRoutes)),
    [JEQ, AF_INET, 1, 0],
    [JEQ, AF_INET6, 0, internet.length],
    ...internet,
    ...other,
  ];
}

/** By the length of the address: the filter sees no family, and no address of the internet is as short. Other calls go on to the lines after these. */
function routesLines(arch: Arch, routes: Routes): readonly Line[] {
  if (routes !== "unheard") return [];
  const ofLength = (call: Call, argument: number, ret: number): readonly Line[] => [
    [JEQ, needNumber(arch, call), 0, 4],
    [LD, argumentAt(argument)],
    [JEQ, SOCKADDR_NL_BYTES, 0, 1],
    [RET, ret],
    [LD, NR_AT],
  ];
  return [...ofLength("bind", 2, RET_NOTHING), ...ofLength("sendto", 5, refuse(EPERM))];
}

function assembled(lines: readonly Line[]): Buffer {
  const out = Buffer.alloc(lines.length * LINE_BYTES);
  lines.forEach(([code, k, onTrue = 0, onFalse = 0], index) => {
    const at = index * LINE_BYTES;
    out.writeUInt16LE(code, at);
    out.writeUInt8(onTrue, at + 2);
    out.writeUInt8(onFalse, at + 3);
    out.writeUInt32LE(k, at + 4);
  });
  return out;
}
