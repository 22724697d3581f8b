/**
 * Returns a function that asks once for all callers, and again after a failure, so that one failure does not
 * stay.
 *
 * @param keptMs time after which the next caller asks again. Unset: an answer is kept for good
 */
export function remembered<Value>(
  ask: () => Promise<Value>,
  keptMs = Number.POSITIVE_INFINITY,
): () => Promise<Value> {
  let answer: { value: Promise<Value>; untilMs: number } | undefined
  return () => {
    if (answer && Date.now() < answer.untilMs) return answer.value
    const value = ask()
    const asked = { value, untilMs: Date.now() + keptMs }
    answer = asked
    value.catch(() => {
      if (answer === asked) answer = undefined
    })
    return value
  }
}
