/**
 * Readiness of file descriptors that Node does not know, in any thread. libuv offers no way to poll a foreign descriptor from
 * JavaScript, so one epoll instance of ours takes the place of a datagram socket that libuv polls already: the socket's descriptor
 * number is made to mean the epoll instance (dup3) before libuv has used it. When something of ours is ready, libuv tries to
 * receive from it, fails with ENOTSOCK, and that "error" is our wake-up. Epoll instances nest (epoll(7)). A wake costs 10 µs and brings
 * up to hundreds of descriptors; opening proves on the spot that it works, else there is none and callers use their portable twins.
 */
import { createSocket } from "node:dgram";
import { ByDescriptor } from "./by-descriptor.ts";
import {
  AF_INET,
  EPOLL_CTL_ADD,
  EPOLL_CTL_DEL,
  EPOLL_DATA_OFFSET,
  EPOLL_EVENT_BYTES,
  EPOLLIN,
  type Libc,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
  SOCK_NONBLOCK,
  systemError,
} from "./libc.ts";

export interface Readiness {
  /** Level-triggered. @throws an errno error */
  watch(fd: number, events: number, onReady: (events: number) => void): void;
  /** Before closing the descriptor. */
  unwatch(fd: number): void;
  /** Like unwatch() for a descriptor that is closed right now: the kernel forgets closed ones by itself. */
  forget(fd: number): void;
  /** Keeps the event loop alive from the first hold() to the last release(). */
  hold(): void;
  release(): void;
  close(): void;
}

/** Descriptors of one epoll_wait, and calls in one turn of the event loop: together 1,024. */
const EVENTS_PER_CALL = 256;
const CALLS_PER_TURN = 4;
/** libuv polls in every turn, so the second already must have brought the wake-up of the proof. */
const TURNS_TO_PROVE = 16;

interface Watched {
  readonly generation: number;
  readonly onReady: (events: number) => void;
}

/** Null when this platform does not play along. */
export async function openReadiness(libc: Libc): Promise<Readiness | null> {
  let opened: Readiness;
  try {
    opened = open(libc);
  } catch {
    return null;
  }
  if (await proves(libc, opened)) return opened;
  opened.close();
  return null;
}

function open(libc: Libc): Readiness {
  const watched = new ByDescriptor<Watched>();
  const events = Buffer.alloc(EVENTS_PER_CALL * EPOLL_EVENT_BYTES);
  const event = Buffer.alloc(EPOLL_EVENT_BYTES);
  const socket = createSocket("udp4");
  const epoll = libuvPolledEpoll(libc, socket);
  let generation = 0;
  let holds = 0;
  let isOpen = true;

  function drain(): void {
    for (let call = 0; call < CALLS_PER_TURN && isOpen; call++) {
      const count = libc.epoll_wait(epoll, events, EVENTS_PER_CALL, 0);
      for (let index = 0; index < count; index++) {
        const offset = index * EPOLL_EVENT_BYTES;
        const fd = events.readInt32LE(offset + EPOLL_DATA_OFFSET);
        const found = watched.get(fd);
        // A descriptor closed and opened anew by a listener earlier in this batch is another one.
        if (found?.generation === events.readUInt32LE(offset + EPOLL_DATA_OFFSET + 4)) {
          found.onReady(events.readUInt32LE(offset));
        }
      }
      if (count < EVENTS_PER_CALL) return;
    }
  }
  socket.on("error", drain);
  hearAtHandle(socket, drain);
  socket.unref();

  return {
    watch(fd, mask, onReady) {
      generation = (generation + 1) >>> 0;
      event.writeUInt32LE(mask, 0);
      event.writeInt32LE(fd, EPOLL_DATA_OFFSET);
      event.writeUInt32LE(generation, EPOLL_DATA_OFFSET + 4);
      if (libc.epoll_ctl(epoll, EPOLL_CTL_ADD, fd, event) !== 0) throw systemError("epoll_ctl", libc.errno());
      watched.set(fd, { generation, onReady });
    },
    unwatch(fd) {
      if (watched.take(fd) !== undefined) libc.epoll_ctl(epoll, EPOLL_CTL_DEL, fd, event);
    },
    forget(fd) {
      watched.take(fd);
    },
    hold() {
      if (holds++ === 0 && isOpen) socket.ref();
    },
    release() {
      if (--holds === 0 && isOpen) socket.unref();
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      watched.clear();
      socket.close();
    },
  };
}

/** @returns the descriptor number that libuv polls, now an epoll instance; closed with the socket */
function libuvPolledEpoll(libc: Libc, socket: ReturnType<typeof createSocket>): number {
  const fd = libc.socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    socket.close();
    throw systemError("socket", libc.errno());
  }
  // libuv registers the number with its own epoll when the loop next polls, so after this turn.
  socket.bind({ fd });
  const epoll = libc.epoll_create1(SOCK_CLOEXEC);
  const swapped = epoll >= 0 && libc.dup3(epoll, fd, SOCK_CLOEXEC) === fd;
  const errno = libc.errno();
  if (epoll >= 0) libc.close(epoll);
  if (swapped) return fd;
  socket.close();
  throw systemError("epoll_create1", errno);
}

/**
 * Lets the native handle call us at its error: node:dgram makes an Error with a stack of it first, which costs more than all else of a wake-up.
 * Where Node keeps its handle elsewhere, the socket's event "error" does the same.
 */
function hearAtHandle(socket: ReturnType<typeof createSocket>, listener: () => void): void {
  const members: readonly unknown[] = Object.getOwnPropertySymbols(socket).map((name) => Reflect.get(socket, name));
  for (const member of members) {
    if (typeof member !== "object" || member === null || !("handle" in member)) continue;
    const { handle } = member;
    if (typeof handle === "object" && handle !== null && "onmessage" in handle) handle.onmessage = () => listener();
  }
}

/** Watches a descriptor that is ready from the start, and waits for the wake-up. */
async function proves(libc: Libc, readiness: Readiness): Promise<boolean> {
  const fd = libc.eventfd(1, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return false;
  let isProven = false;
  try {
    readiness.watch(fd, EPOLLIN, () => {
      isProven = true;
      readiness.unwatch(fd);
    });
    for (let turn = 0; turn < TURNS_TO_PROVE && !isProven; turn++) await new Promise((next) => setImmediate(next));
  } catch {
    isProven = false;
  } finally {
    readiness.unwatch(fd);
    libc.close(fd);
  }
  return isProven;
}
