/**
 * A program of system calls alone, as an ELF file: what a process must do to itself between fork and exec, which Node cannot. It starts in a
 * third of a millisecond, where an interpreter would take 5 to 50, and needs no compiler on the machine. Pure.
 *
 * Sources: System V ABI, ELF-64 object file format; Linux syscall(2) (registers by architecture); Intel SDM 2; Arm ARM C6.
 */

/** As Node names them. */
export type Arch = "x64" | "arm64";

/** A number, or where bytes lie in the program's memory. */
export type Argument = number | { readonly data: number };

export interface Step {
  readonly call: number;
  /** At most six. */
  readonly args: readonly Argument[];
  /** Said on stderr when the call fails, and the program ends with its errno as exit code; null: a failure is nothing. */
  readonly fault: string | null;
  /** Where the low 32 bits of what it returned are written. */
  readonly into?: readonly number[];
}

/** Bytes that the steps point at. They are laid down in order, at multiples of 8. */
export class Memory {
  readonly #parts: Buffer[] = [];
  readonly #base: number;
  #size = 0;

  constructor(base: number = DATA_AT) {
    this.#base = base;
  }

  /** @returns its address, for an Argument or a pointer within other bytes */
  add(bytes: Uint8Array): number {
    const address = this.#base + this.#size;
    const padded = Buffer.alloc(Math.ceil(bytes.length / 8) * 8);
    padded.set(bytes);
    this.#parts.push(padded);
    this.#size += padded.length;
    return address;
  }

  /** As C has it: ended by a zero byte. */
  text(text: string): number {
    return this.add(Buffer.from(`${text}\0`));
  }

  /** An array of pointers that ends with a null one, such as argv. */
  texts(texts: readonly string[]): number {
    const pointers = Buffer.alloc((texts.length + 1) * 8);
    texts.forEach((text, index) => {
      pointers.writeBigUInt64LE(BigInt(this.text(text)), index * 8);
    });
    return this.add(pointers);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

const EHDR_BYTES = 64;
const PHDR_BYTES = 56;
const PHDRS = 3;
const CODE_OFFSET = EHDR_BYTES + PHDRS * PHDR_BYTES;
/** The largest page of either architecture: segments may not share one. */
const PAGE = 0x1_0000;
const CODE_AT = 0x40_0000;
/** Code never comes near: a step is 150 bytes. */
const DATA_AT = 0x100_0000;
const MACHINE: Readonly<Record<Arch, number>> = { x64: 62, arm64: 183 };
const PF_X = 1;
const PF_W = 2;
const PF_R = 4;
const PT_LOAD = 1;
const PT_GNU_STACK = 0x6474_e551;
const STDERR = 2;

/** System calls that every program has (asm/unistd_64.h, asm-generic/unistd.h). */
const OWN_CALLS: Readonly<Record<Arch, { readonly write: number; readonly exitGroup: number }>> = {
  x64: { write: 1, exitGroup: 231 },
  arm64: { write: 64, exitGroup: 94 },
};

/** Runs the steps in order; when the last one returns the program ends with exit code 0. */
export function imageOf(arch: Arch, steps: readonly Step[], memory: Memory): Buffer {
  const code = Buffer.concat([...steps.map((step) => stepCode(arch, step, memory)), exitCode(arch)]);
  const data = memory.bytes();
  const dataOffset = Math.ceil((CODE_OFFSET + code.length) / PAGE) * PAGE;
  const codeBytes = CODE_OFFSET + code.length;
  const header = Buffer.alloc(CODE_OFFSET);
  writeHeader(header, arch);
  writeSegment(header, 0, { type: PT_LOAD, flags: PF_R | PF_X, offset: 0, at: CODE_AT, size: codeBytes });
  writeSegment(header, 1, { type: PT_LOAD, flags: PF_R | PF_W, offset: dataOffset, at: DATA_AT, size: data.length });
  writeSegment(header, 2, { type: PT_GNU_STACK, flags: PF_R | PF_W, offset: 0, at: 0, size: 0 });
  return Buffer.concat([header, code, Buffer.alloc(dataOffset - codeBytes), data]);
}

function writeHeader(out: Buffer, arch: Arch): void {
  // 64 bits, little-endian, version 1; an executable.
  out.write("\x7fELF\x02\x01\x01", 0, "latin1");
  out.writeUInt16LE(2, 16);
  out.writeUInt16LE(MACHINE[arch], 18);
  out.writeUInt32LE(1, 20);
  out.writeBigUInt64LE(BigInt(CODE_AT + CODE_OFFSET), 24);
  out.writeBigUInt64LE(BigInt(EHDR_BYTES), 32);
  out.writeUInt16LE(EHDR_BYTES, 52);
  out.writeUInt16LE(PHDR_BYTES, 54);
  out.writeUInt16LE(PHDRS, 56);
}

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly at: number;
  readonly size: number;
}

function writeSegment(out: Buffer, index: number, { type, flags, offset, at, size }: Segment): void {
  const start = EHDR_BYTES + index * PHDR_BYTES;
  out.writeUInt32LE(type, start);
  out.writeUInt32LE(flags, start + 4);
  [offset, at, at, size, size, type === PT_LOAD ? PAGE : 16].forEach((value, word) => {
    out.writeBigUInt64LE(BigInt(value), start + 8 + word * 8);
  });
}

function stepCode(arch: Arch, step: Step, memory: Memory): Buffer {
  const { fault, into = [] } = step;
  const coder = CODERS[arch];
  const parts = [coder.call(step.call, step.args)];
  if (fault !== null) {
    const said = Buffer.from(`${fault}\n`);
    const report = coder.call(OWN_CALLS[arch].write, [STDERR, { data: memory.add(said) }, said.length]);
    parts.push(coder.unlessFailed(Buffer.concat([coder.keepErrno, report, coder.exitWithErrno])));
  }
  for (const address of into) parts.push(coder.store(address));
  return Buffer.concat(parts);
}

function exitCode(arch: Arch): Buffer {
  return CODERS[arch].call(OWN_CALLS[arch].exitGroup, [0]);
}

interface Coder {
  call(number: number, args: readonly Argument[]): Buffer;
  /** Runs `handler` when the call returned a negative number, which is an errno. */
  unlessFailed(handler: Buffer): Buffer;
  readonly keepErrno: Buffer;
  readonly exitWithErrno: Buffer;
  store(address: number): Buffer;
}

const wordOf = (argument: Argument): bigint => {
  return BigInt.asUintN(64, BigInt(typeof argument === "number" ? argument : argument.data));
};

/** `mov r64, imm64` to rdi, rsi, rdx, r10, r8, r9, and to rax: prefix and opcode with the register. */
const X64_ARGS = [0x48_bf, 0x48_be, 0x48_ba, 0x49_ba, 0x49_b8, 0x49_b9] as const;
const X64_RAX = 0x48_b8;
const X64_RCX = 0x48_b9;

function x64Move(opcode: number, value: bigint): Buffer {
  const out = Buffer.alloc(10);
  out.writeUInt16BE(opcode, 0);
  out.writeBigUInt64LE(value, 2);
  return out;
}

const x64: Coder = {
  call: (number, args) =>
    Buffer.concat([
      ...args.map((argument, index) => x64Move(X64_ARGS[index] ?? 0, wordOf(argument))),
      x64Move(X64_RAX, BigInt(number)),
      // syscall
      Buffer.from([0x0f, 0x05]),
    ]),
  unlessFailed(handler) {
    // test rax, rax; jns over the handler
    const out = Buffer.from([0x48, 0x85, 0xc0, 0x0f, 0x89, 0, 0, 0, 0]);
    out.writeInt32LE(handler.length, 5);
    return Buffer.concat([out, handler]);
  },
  // mov ebx, eax
  keepErrno: Buffer.from([0x89, 0xc3]),
  // neg ebx; mov edi, ebx; mov eax, exit_group; syscall
  exitWithErrno: Buffer.from([0xf7, 0xdb, 0x89, 0xdf, 0xb8, OWN_CALLS.x64.exitGroup, 0, 0, 0, 0x0f, 0x05]),
  // mov rcx, address; mov [rcx], eax
  store: (address) => Buffer.concat([x64Move(X64_RCX, BigInt(address)), Buffer.from([0x89, 0x01])]),
};

/** `movz`, then `movk` for each further 16 bits. */
function armMove(register: number, value: bigint): readonly number[] {
  return [0, 1, 2, 3].map((part) => {
    const immediate = Number((value >> BigInt(part * 16)) & 0xffffn);
    return ((part === 0 ? 0xd280_0000 : 0xf280_0000) | (part << 21) | (immediate << 5) | register) >>> 0;
  });
}

function words(values: readonly number[]): Buffer {
  const out = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    out.writeUInt32LE(value, index * 4);
  });
  return out;
}

const ARM_SVC = 0xd400_0001;
const arm64: Coder = {
  call: (number, args) =>
    words([
      ...args.flatMap((argument, index) => armMove(index, wordOf(argument))),
      ...armMove(8, BigInt(number)),
      ARM_SVC,
    ]),
  // tbz x0, #63, over the handler
  unlessFailed: (handler) =>
    Buffer.concat([words([0xb6f8_0000 | ((handler.length / 4 + 1) << 5)].map(unsigned)), handler]),
  // mov w20, w0
  keepErrno: words([0x2a00_03f4]),
  // neg w0, w20; then exit_group
  exitWithErrno: words([0x4b14_03e0, ...armMove(8, BigInt(OWN_CALLS.arm64.exitGroup)), ARM_SVC]),
  // x9 = address; str w0, [x9]
  store: (address) => words([...armMove(9, BigInt(address)), 0xb900_0120]),
};

function unsigned(value: number): number {
  return value >>> 0;
}

const CODERS: Readonly<Record<Arch, Coder>> = { x64, arm64 };
