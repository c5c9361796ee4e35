/** Work that is requested more often than it can be done: one run at a time, and one more when it was requested meanwhile. */
export interface OneAtATime {
  /** Requests a run. */
  request(): void;
  /** No run begins any more; resolves when the running one has ended. */
  stop(): Promise<void>;
}

/** @param onError called when a run fails; the next request runs the work again */
export function oneAtATime(work: () => Promise<void>, onError: (error: unknown) => void): OneAtATime {
  let running: Promise<void> | undefined;
  let isWanted = false;
  let isStopped = false;

  function request(): void {
    if (isStopped) return;
    if (running !== undefined) {
      isWanted = true;
      return;
    }
    running = work()
      .catch(onError)
      .finally(() => {
        running = undefined;
        if (!isWanted) return;
        isWanted = false;
        request();
      });
  }

  return {
    request,
    async stop() {
      isStopped = true;
      await running;
    },
  };
}
