/** Inputs made of valid ones: bits, bytes, lengths, pieces and tokens changed, several changes on top of each other. Pure. */
import type { Random } from "../../testkit/random.ts";

/** Values at which lengths and counters go wrong. */
const EDGES = [0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff];
const BYTES = [0, 1, 0x20, 0x7f, 0x80, 0xff, 0x0a, 0x0d, 0x30, 0x22] as const;
const NUMBERS = ["0", "-1", "1", "65535", "65536", "4294967296", "9007199254740993", "1e309", "00", "999999999999"];
/** Marks that some text format cares about. */
const MARKS = [
  ..." \n\r\t\0#?@/:;,[]{}()<>=&%+-_.\\\"'`|!*~$",
  "\ufeff",
  "%00",
  "%zz",
  "\r\n",
  "\u2028",
  "🜂",
  "\\ud800",
];

/** Changes of one input. */
const MOST_CHANGES = 8;
/** One in so many inputs is blown up to the longest that its target takes. */
const LONG_ONES = 200;
/** Of an input that is not blown up, bytes. */
const USUAL_BYTES = 4_096;

export interface Material {
  /** Valid ones, and those that led somewhere new. */
  readonly corpus: readonly Uint8Array[];
  readonly words: readonly Uint8Array[];
  /** Bytes. */
  readonly longest: number;
}

type Change = (input: Buffer, random: Random, material: Material) => Buffer;

export function mutate(random: Random, material: Material): Buffer {
  const { corpus, longest } = material;
  let now: Buffer = Buffer.from(random.pick(corpus) ?? []);
  // Now and then as it is: decoders with a state of their own must bear the same twice.
  const changes = random.below(32) === 0 ? 0 : 1 + random.below(1 + random.below(MOST_CHANGES));
  for (let at = 0; at < changes; at++) now = (random.pick(CHANGES) ?? flipBits)(now, random, material);
  const most = Math.min(longest, Math.max(USUAL_BYTES, 2 * (corpus[0]?.length ?? 0)));
  if (random.below(LONG_ONES) === 0) return blowUp(now, random, material).subarray(0, longest);
  return now.subarray(0, most);
}

const CHANGES: readonly Change[] = [
  flipBits,
  flipBits,
  setByte,
  setByte,
  setLength,
  setLength,
  truncate,
  cutOut,
  cutOut,
  double,
  repeat,
  splice,
  putWord,
  putWord,
  overwriteWithWord,
  putNoise,
  changeNumber,
  swap,
];

function flipBits(input: Buffer, random: Random): Buffer {
  for (let times = 1 + random.below(4); times > 0 && input.length > 0; times--) {
    const at = random.below(input.length);
    input[at] = (input[at] ?? 0) ^ (1 << random.below(8));
  }
  return input;
}

function setByte(input: Buffer, random: Random): Buffer {
  if (input.length === 0) return Buffer.of(random.below(256));
  input[random.below(input.length)] = random.below(2) === 0 ? random.below(256) : (random.pick(BYTES) ?? 0);
  return input;
}

/** Two, three or four bytes in either order: an edge, or about the size of what follows. */
function setLength(input: Buffer, random: Random): Buffer {
  const size = 1 + random.below(4);
  if (input.length < size) return input;
  const at = random.below(input.length - size + 1);
  const rest = input.length - at - size;
  const value = random.below(2) === 0 ? (random.pick(EDGES) ?? 0) : Math.max(0, rest + random.below(9) - 4);
  const fitting = value % 2 ** (8 * size);
  if (random.below(4) === 0) input.writeUIntLE(fitting, at, size);
  else input.writeUIntBE(fitting, at, size);
  return input;
}

function truncate(input: Buffer, random: Random): Buffer {
  return random.below(4) === 0
    ? input.subarray(random.below(input.length + 1))
    : input.subarray(0, random.below(input.length + 1));
}

function cutOut(input: Buffer, random: Random): Buffer {
  const [at, end] = range(input, random);
  return Buffer.concat([input.subarray(0, at), input.subarray(end)]);
}

function double(input: Buffer, random: Random): Buffer {
  const [at, end] = range(input, random);
  return put(input, random.below(input.length + 1), input.subarray(at, end));
}

function repeat(input: Buffer, random: Random): Buffer {
  const [at, end] = range(input, random);
  const times = 1 + random.below(32);
  return put(input, end, Buffer.concat(Array.from({ length: times }, () => input.subarray(at, end))));
}

function splice(input: Buffer, random: Random, { corpus }: Material): Buffer {
  const other = random.pick(corpus) ?? input;
  const from = random.below(other.length + 1);
  return Buffer.concat([input.subarray(0, random.below(input.length + 1)), other.subarray(from)]);
}

function putWord(input: Buffer, random: Random, { words }: Material): Buffer {
  return put(input, random.below(input.length + 1), wordOf(random, words));
}

function overwriteWithWord(input: Buffer, random: Random, { words }: Material): Buffer {
  const word = wordOf(random, words);
  const at = random.below(input.length + 1);
  return Buffer.concat([input.subarray(0, at), word, input.subarray(at + word.length)]);
}

function putNoise(input: Buffer, random: Random): Buffer {
  const noise = Buffer.from(Array.from({ length: 1 + random.below(12) }, () => random.below(256)));
  return put(input, random.below(input.length + 1), noise);
}

/** Digits of a text. */
function changeNumber(input: Buffer, random: Random): Buffer {
  if (input.length === 0) return input;
  const isDigit = (at: number): boolean => (input[at] ?? 0) >= 0x30 && (input[at] ?? 0) <= 0x39;
  let at = random.below(input.length);
  for (let steps = 0; steps < input.length && !isDigit(at); steps++) at = (at + 1) % input.length;
  let end = at;
  while (end < input.length && isDigit(end)) end++;
  const number = Buffer.from(random.pick(NUMBERS) ?? "0");
  return Buffer.concat([input.subarray(0, at), number, input.subarray(end)]);
}

function swap(input: Buffer, random: Random): Buffer {
  const [at, end] = range(input, random);
  const piece = Buffer.from(input.subarray(at, end));
  const rest = Buffer.concat([input.subarray(0, at), input.subarray(end)]);
  return put(rest, random.below(rest.length + 1), piece);
}

/** A piece of it, as often as it fits: what costs more than its length shows here. */
function blowUp(input: Buffer, random: Random, { longest, words }: Material): Buffer {
  const [at, end] = range(input, random);
  const piece =
    random.below(2) === 0 || at === end ? wordOf(random, words) : input.subarray(at, Math.min(end, at + 64));
  if (piece.length === 0) return input;
  const size = Math.max(0, Math.floor(longest / (1 + random.below(4))) - input.length);
  return put(input, random.below(input.length + 1), Buffer.alloc(size, piece));
}

/** Mostly short ones. */
function range(input: Buffer, random: Random): readonly [number, number] {
  const at = random.below(input.length + 1);
  const most = random.below(4) === 0 ? input.length : 16;
  return [at, Math.min(input.length, at + random.below(most + 1))];
}

function put(input: Buffer, at: number, piece: Buffer): Buffer {
  return Buffer.concat([input.subarray(0, at), piece, input.subarray(at)]);
}

function wordOf(random: Random, words: readonly Uint8Array[]): Buffer {
  const word = words.length > 0 && random.below(3) > 0 ? random.pick(words) : undefined;
  return Buffer.from(word ?? Buffer.from(random.pick(MARKS) ?? "\0"));
}
