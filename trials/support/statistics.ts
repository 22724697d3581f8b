/** Returns the value below which this share of the values is; NaN without values. */
export function quantile(values: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: Iterable<number>): number => quantile(values, 0.5)
