/**
 * Returns a property check that passes without running once the time is over, so that slow machines try fewer
 * cases instead of failing.
 *
 * @param always number of cases that run however long they take
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
