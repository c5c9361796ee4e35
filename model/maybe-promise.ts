/** A value, or a promise of it. A request that needs no wait gets the value itself, because a promise would cost as much as the request's own work. */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with the value: now when it is there, otherwise when the promise resolves. An error is thrown in the first case, and rejects in the second. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
