import { median, quantile } from '../../support/statistics.js'

const warmUps = 20
/** Number of requests of each pass. */
export const rounds = 200

/** A question with the durations of its answers. */
export class Asked {
  readonly #name: string
  readonly #ask: (round: number) => Promise<string>
  readonly #passes: number[][] = []
  #items = 0

  constructor(name: string, ask: (round: number) => Promise<string>) {
    this.#name = name
    this.#ask = ask
  }

  async pass(): Promise<void> {
    const times: number[] = []
    for (let round = -warmUps; round < rounds; round += 1) {
      const startedMs = performance.now()
      const body = await this.#ask(warmUps + round + this.#passes.length * rounds)
      if (round >= 0) times.push(performance.now() - startedMs)
      this.#items = Math.max(this.#items, itemsOf(JSON.parse(body)))
    }
    this.#passes.push(times)
  }

  line(): string {
    const all = this.#passes.flat()
    const quietest = Math.min(...this.#passes.map((times) => quantile(times, 0.99)))
    const figures = [median(all), quantile(all, 0.99), quietest].map((ms) => ms.toFixed(1))
    return `| ${[this.#name, ...figures, this.#items].join(' | ')} |`
  }
}

function itemsOf(body: unknown[] | { activities: unknown[] }): number {
  return Array.isArray(body) ? body.length : body.activities.length
}
