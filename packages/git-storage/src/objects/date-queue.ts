/**
 * A priority queue that returns the newest commit first and, of equal dates, the one added first, which is git's order.
 * It is a binary heap in parallel arrays.
 */
export class DateQueue {
  readonly #nodes: number[] = []
  readonly #seconds: number[] = []
  readonly #turns: number[] = []
  #lastTurn = 0

  get isEmpty(): boolean {
    return this.#nodes.length === 0
  }

  push(node: number, seconds: number): void {
    this.#lastTurn += 1
    let at = this.#nodes.length
    this.#set(at, node, seconds, this.#lastTurn)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(at, parent)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  pop(): number | null {
    const [node] = this.#nodes
    if (node === undefined) return null
    const last = this.#nodes.length - 1
    this.#swap(0, last)
    this.#nodes.pop()
    this.#seconds.pop()
    this.#turns.pop()
    this.#sink()
    return node
  }

  #sink(): void {
    let at = 0
    for (;;) {
      const left = at * 2 + 1
      let first = at
      if (left < this.#nodes.length && this.#isBefore(left, first)) first = left
      if (left + 1 < this.#nodes.length && this.#isBefore(left + 1, first)) first = left + 1
      if (first === at) return
      this.#swap(at, first)
      at = first
    }
  }

  #isBefore(a: number, b: number): boolean {
    const difference = (this.#seconds[a] ?? 0) - (this.#seconds[b] ?? 0)
    return difference !== 0 ? difference > 0 : (this.#turns[a] ?? 0) < (this.#turns[b] ?? 0)
  }

  #set(at: number, node: number, seconds: number, turn: number): void {
    this.#nodes[at] = node
    this.#seconds[at] = seconds
    this.#turns[at] = turn
  }

  #swap(a: number, b: number): void {
    const node = this.#nodes[a] ?? 0
    const seconds = this.#seconds[a] ?? 0
    const turn = this.#turns[a] ?? 0
    this.#set(a, this.#nodes[b] ?? 0, this.#seconds[b] ?? 0, this.#turns[b] ?? 0)
    this.#set(b, node, seconds, turn)
  }
}
