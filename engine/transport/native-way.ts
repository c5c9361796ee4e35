/** A native implementation, opened at its first use. Until it is ready, and on machines where it does not work, Node's is used. */

interface Closable {
  close(): void;
}

export interface NativeWay<Part extends Closable> {
  /** The part if it is open; otherwise null, and it is being opened or cannot be. */
  take(): Part | null;
  /** Settles when it is known which of the two ways works here; the first take asks. */
  ready(): Promise<"native" | "node">;
  close(): void;
}

/** @param open yields null where the part does not work */
export function createNativeWay<Part extends Closable>(open: () => Promise<Part | null>): NativeWay<Part> {
  let part: Part | null = null;
  let opening: Promise<"native" | "node"> | undefined;
  let isClosed = false;

  async function openPart(): Promise<"native" | "node"> {
    const opened = await open();
    if (isClosed) opened?.close();
    else part = opened;
    return opened === null ? "node" : "native";
  }
  function ready(): Promise<"native" | "node"> {
    opening ??= openPart();
    return opening;
  }

  return {
    ready,
    take() {
      if (part === null) void ready();
      return part;
    },
    close() {
      isClosed = true;
      part?.close();
      part = null;
    },
  };
}
