/** Values that are there at once where nothing has to be waited for: on the way of every request a promise costs as much as the work. */
export type Soon<T> = T | Promise<T>;

/** What comes next, at once when the value is there. What throws, throws at once or rejects, as the value came. */
export function after<T, U>(soon: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return soon instanceof Promise ? soon.then(next) : next(soon);
}
