/** Repeats a question until its answer is truthy; rejects, naming it, when that takes too long. */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | false> | T | false,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
