/** Service names as labels: the first so many keep theirs for good, the rest share one. */
export function createServiceLabels(namesMax: number): (serviceName: string | null) => string {
  const known = new Set<string>()
  return (serviceName) => {
    // An empty label would be taken for a missing one.
    if (serviceName === null || serviceName === '') return 'unknown'
    if (known.size < namesMax) known.add(serviceName)
    return known.has(serviceName) ? serviceName : 'other'
  }
}
