/** Work that is asked for more often than it can be done: one run at a time, one more when it was asked for meanwhile. */
export interface OneAtATime {
  /** Asks for a run. */
  request(): void;
  /** No run begins any more; resolves when the running one has ended. */
  stop(): Promise<void>;
}

/** @param onError an error ends that run only; the next request tries again */
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
