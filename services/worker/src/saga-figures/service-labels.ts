/** Service names as labels: the first `namesMax` names are labels of their own, all further names share one. */
export function createServiceLabels(namesMax: number): (serviceName: string | null) => string {
  const known = new Set<string>()
  return (serviceName) => {
    // Prometheus takes an empty label for a missing one.
    if (serviceName === null || serviceName === '') return 'unknown'
    if (known.size < namesMax) known.add(serviceName)
    return known.has(serviceName) ? serviceName : 'other'
  }
}
