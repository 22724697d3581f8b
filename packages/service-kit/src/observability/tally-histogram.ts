import { Histogram, type HistogramConfiguration, type LabelValues } from 'prom-client'

/** The observations under one set of labels. Observing costs some ten nanoseconds: no hashing, no objects. */
export class Tally<Label extends string> {
  readonly labels: LabelValues<Label>
  readonly #bounds: readonly number[]
  readonly #inBucket: Float64Array
  #sum = 0

  constructor(labels: LabelValues<Label>, bounds: readonly number[]) {
    this.labels = labels
    this.#bounds = bounds
    this.#inBucket = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    this.#inBucket[bucket] = (this.#inBucket[bucket] as number) + 1
    this.#sum += value
  }

  get count(): number {
    return this.#inBucket.reduce((total, inBucket) => total + inBucket, 0)
  }

  /** What Prometheus reads of it: cumulative buckets, sum and count. */
  samples(name: string) {
    let total = 0
    const buckets = [...this.#bounds, '+Inf' as const].map((le, index) => {
      total += this.#inBucket[index] ?? 0
      return { metricName: `${name}_bucket`, labels: { ...this.labels, le }, value: total }
    })
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: this.labels, value: this.#sum },
      { metricName: `${name}_count`, labels: this.labels, value: total },
    ]
  }
}

/**
 * A histogram for hot paths: whoever observes keeps the tally of its labels, so that an observation does
 * not look the labels up. prom-client takes a microsecond for that, also for its own bound children.
 */
export class TallyHistogram<Label extends string> extends Histogram<Label> {
  readonly #tallies: Tally<Label>[] = []
  readonly #about: { name: string; help: string; bounds: readonly number[] }
  /** Set by prom-client, whose types do not tell. */
  declare readonly labelNames: readonly Label[]

  constructor(configuration: HistogramConfiguration<Label> & { buckets: number[] }) {
    super(configuration)
    this.#about = { name: configuration.name, help: configuration.help, bounds: configuration.buckets }
  }

  /** Starts the tally of a set of labels; call it once for each set and keep what it gives. */
  tally(labels: LabelValues<Label>): Tally<Label> {
    const tally = new Tally(labels, this.#about.bounds)
    this.#tallies.push(tally)
    return tally
  }

  /** How many observations each set of labels has. */
  counts(): { labels: LabelValues<Label>; count: number }[] {
    return this.#tallies.map(({ labels, count }) => ({ labels, count }))
  }

  override async get() {
    const { name, help } = this.#about
    const values = this.#tallies.flatMap((tally) => tally.samples(name))
    return { name, help, type: 'histogram', values, aggregator: 'sum' } as unknown as Awaited<
      ReturnType<Histogram<Label>['get']>
    >
  }

  /** What the registry reads in place of `get` when it writes text. */
  getForPromString() {
    return this.get()
  }
}
