/**
 * A check of a property that passes unmade once the time is over, so that slow machines try fewer cases
 * instead of failing.
 *
 * @param always how many are made however long they take
 */
export function asTimeAllows<Case extends unknown[]>(
  limitMs: number,
  check: (...given: Case) => Promise<void>,
  always = 1,
): (...given: Case) => Promise<void> {
  const startedMs = performance.now()
  let made = 0
  return async (...given) => {
    if (made >= always && performance.now() - startedMs > limitMs) return
    made += 1
    await check(...given)
  }
}
