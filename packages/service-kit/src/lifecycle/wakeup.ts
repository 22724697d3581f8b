/** A wait that others can end. A wake while nobody waits ends the next wait at once. */
export class Wakeup {
  #isWoken = false
  #end: () => void = () => {}

  wake(): void {
    this.#isWoken = true
    this.#end()
  }

  /** Resolves once it is woken, the time is over, or the signal aborts. @returns whether it was woken */
  async wait(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#end = resolve
      timer = setTimeout(resolve, timeoutMs)
      signal?.addEventListener('abort', this.#end)
      if (this.#isWoken || signal?.aborted) resolve()
    })
    clearTimeout(timer)
    signal?.removeEventListener('abort', this.#end)
    const wasWoken = this.#isWoken
    this.#isWoken = false
    return wasWoken
  }
}
