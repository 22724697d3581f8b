/**
 * One figure of a service that became worse with a deployment. A type, as no interface is a value of JSON to
 * the compiler.
 */
export type ImpactFinding = {
  /** Empty for queues, which belong to no tenant. */
  tenant: string
  serviceName: string
  /** One of `measures` of `@switchyard/delivery-impact`. */
  measure: string
  /** Of the error of a new failure; empty for other measures. */
  fingerprint: string
  /** Shares are of 1, times in seconds; null: there was nothing before. */
  before: number | null
  after: number
  /** Sagas, samples or attempts at jobs behind both figures. */
  samplesBefore: number
  samplesAfter: number
  /** Probability that chance alone does this. */
  pValue: number
}

/** A finding, and when what became worse began. */
export type DatedFinding = ImpactFinding & { changePointAt: Date }

/** How many times the figure before the figure after is; infinite when there was nothing before. */
export const growthOf = ({ before, after }: Pick<ImpactFinding, 'before' | 'after'>): number =>
  before ? after / before : Number.POSITIVE_INFINITY
