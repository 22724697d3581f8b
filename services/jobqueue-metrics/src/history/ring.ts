import type { HistorySample, SeriesMetrics } from '@switchyard/contracts/jobs'

/**
 * Assigns each series a number, which is the same in every ring. At most `max` series get one, because there
 * may be any number of queues.
 */
export class SeriesNumbers {
  readonly #numbers = new Map<string, number>()
  /** Numbers that were given back. */
  readonly #free: number[] = []

  constructor(private readonly max: number) {}

  /**
   * Returns the number of a series, and assigns one when it has none; undefined when there are too many
   * series.
   */
  numberOf(key: string): number | undefined {
    const known = this.#numbers.get(key)
    if (known !== undefined || this.#numbers.size >= this.max) return known
    const number = this.#free.pop() ?? this.#numbers.size
    this.#numbers.set(key, number)
    return number
  }

  /** Returns whether a sample has a series that gets no number. */
  lacksOneFor({ metrics }: HistorySample): boolean {
    return this.#numbers.size >= this.max && [...metrics.keys()].some((key) => !this.#numbers.has(key))
  }

  /** Gives the numbers back that no ring uses any more. */
  release(isUsed: (number: number) => boolean): void {
    for (const [key, number] of this.#numbers) {
      if (isUsed(number)) continue
      this.#numbers.delete(key)
      this.#free.push(number)
    }
  }

  find(key: string): number | undefined {
    return this.#numbers.get(key)
  }

  /**
   * Returns the part of a sample whose series have a number. A new series gets one until all are assigned.
   */
  known({ atMs, metrics }: HistorySample): HistorySample {
    return { atMs, metrics: new Map([...metrics].filter(([key]) => this.numberOf(key) !== undefined)) }
  }
}

const parts = ['backlog', 'latency', 'processed', 'failed', 'busy'] as const satisfies (keyof SeriesMetrics)[]

/** A sample: five numbers for each series, NaN for an unknown metric. */
interface Row {
  atMs: number
  values: Float64Array
}

/** The latest samples, oldest first, bounded in number and age. */
export class Ring {
  #rows: Row[] = []

  constructor(
    private readonly numbers: SeriesNumbers,
    private readonly rowsMax: number,
    private readonly ageMsMax: number,
  ) {}

  /** Time of the latest sample; null without one. */
  get latestMs(): number | null {
    return this.#rows.at(-1)?.atMs ?? null
  }

  add(sample: HistorySample): void {
    this.#rows.push(this.#pack(sample))
    while (this.#rows.length > this.rowsMax || (this.#rows[0]?.atMs ?? 0) < sample.atMs - this.ageMsMax) {
      this.#rows.shift()
    }
  }

  /**
   * Inserts stored samples before the current ones, except samples that are newer than these or too old. Each
   * sample is packed on arrival, because a day of unpacked samples can take more than a gigabyte.
   */
  async restore(samples: AsyncIterable<HistorySample>, nowMs: number): Promise<void> {
    const stored = new Map<number, Row>()
    for await (const sample of samples) {
      if (sample.atMs >= nowMs - this.ageMsMax && sample.atMs <= nowMs)
        stored.set(sample.atMs, this.#pack(sample))
    }
    const beforeMs = this.#rows[0]?.atMs ?? Number.POSITIVE_INFINITY
    const older = [...stored.values()].filter(({ atMs }) => atMs < beforeMs).sort((a, b) => a.atMs - b.atMs)
    this.#rows = [...older, ...this.#rows].slice(-this.rowsMax)
  }

  /**
   * Returns the metrics of each series at every moment of a span; null for a series without a sample then.
   */
  *between(
    keys: string[],
    fromMs: number,
    toMs: number,
  ): Generator<{ atMs: number; metrics: (SeriesMetrics | null)[] }> {
    const wanted = keys.map((key) => this.numbers.find(key))
    for (const { atMs, values } of this.#rows) {
      if (atMs < fromMs || atMs > toMs) continue
      yield {
        atMs,
        metrics: wanted.map((number) => (number === undefined ? null : unpack(values, number))),
      }
    }
  }

  /** Returns whether a sample has the series with this number. */
  has(number: number): boolean {
    return this.#rows.some(({ values }) => unpack(values, number) !== null)
  }

  /** Returns the time of the first sample of a series; infinity when there is none. */
  firstSeenMs(key: string): number {
    const number = this.numbers.find(key)
    const first = this.#rows.find(({ values }) => number !== undefined && unpack(values, number) !== null)
    return first?.atMs ?? Number.POSITIVE_INFINITY
  }

  #pack({ atMs, metrics }: HistorySample): Row {
    const numbered = [...metrics].flatMap(([key, each]) => {
      const number = this.numbers.numberOf(key)
      return number === undefined ? [] : [{ number, each }]
    })
    const length = numbered.reduce((max, { number }) => Math.max(max, number + 1), 0) * parts.length
    const values = new Float64Array(length).fill(Number.NaN)
    for (const { number, each } of numbered) {
      parts.forEach((part, index) => {
        values[number * parts.length + index] = each[part] ?? Number.NaN
      })
    }
    return { atMs, values }
  }
}

/** Returns the metrics of a series; null when none is known, because the series was not sampled then. */
function unpack(values: Float64Array, number: number): SeriesMetrics | null {
  const own = parts.map((_part, index) => {
    const value = values[number * parts.length + index]
    return value === undefined || Number.isNaN(value) ? null : value
  })
  if (own.every((value) => value === null)) return null
  return Object.fromEntries(parts.map((part, index) => [part, own[index] ?? null])) as Record<
    keyof SeriesMetrics,
    number | null
  >
}
