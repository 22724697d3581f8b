/**
 * One figure of a service that became worse with a deployment. It is a type, because TypeScript does not
 * accept an interface as a JSON value.
 */
export type ImpactFinding = {
  /** Empty for queues, because they belong to no tenant. */
  tenant: string
  serviceName: string
  /** One of `measures` of `@switchyard/delivery-impact`. */
  measure: string
  /** Fingerprint of the error of a new failure; empty for other measures. */
  fingerprint: string
  /**
   * The figure before the deployment. Shares are between 0 and 1, times in seconds. Null: there was nothing
   * before.
   */
  before: number | null
  after: number
  /** Number of sagas, samples or attempts at jobs that the figure before is made from. */
  samplesBefore: number
  samplesAfter: number
  /** Probability that chance alone makes the figure this much worse. */
  pValue: number
}

/** A finding, and the time at which the figure became worse. */
export type DatedFinding = ImpactFinding & { changePointAt: Date }

/** Returns the figure after as a multiple of the figure before; infinite when there was nothing before. */
export const growthOf = ({ before, after }: Pick<ImpactFinding, 'before' | 'after'>): number =>
  before ? after / before : Number.POSITIVE_INFINITY
