/** Numbers of Linux's system calls: x86-64 (asm/unistd_64.h) and arm64 (asm-generic/unistd.h); null where an architecture lacks one. */
import type { Arch } from "./image.ts";

type Row = readonly [x64: number, arm64: number | null];

const TABLE = {
  close: [3, 57],
  socket: [41, 198],
  socketpair: [53, 199],
  bind: [49, 200],
  connect: [42, 203],
  setsockopt: [54, 208],
  sendto: [44, 206],
  sendmsg: [46, 211],
  sendmmsg: [307, 269],
  getpid: [39, 172],
  clone: [56, 220],
  execve: [59, 221],
  kill: [62, 129],
  tgkill: [234, 131],
  prctl: [157, 167],
  setgroups: [116, 159],
  setresuid: [117, 147],
  setresgid: [119, 149],
  prlimit64: [302, 261],
  seccomp: [317, 277],
  memfd_create: [319, 279],
  clone3: [435, 435],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
  // What a child has no business with.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  kcmp: [312, 272],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  pidfd_send_signal: [424, 424],
  tkill: [200, 130],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  move_mount: [429, 429],
  open_tree: [428, 428],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  vhangup: [153, 58],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  modify_ldt: [154, null],
  iopl: [172, null],
  ioperm: [173, null],
} as const satisfies Readonly<Record<string, Row>>;

export type Call = keyof typeof TABLE;

export function callNumber(arch: Arch, name: Call): number | null {
  return TABLE[name][arch === "x64" ? 0 : 1];
}

/** Of a call that both architectures have. */
export function needNumber(arch: Arch, name: Call): number {
  const number = callNumber(arch, name);
  if (number === null) throw new Error(`${name} is no system call of ${arch}`);
  return number;
}
