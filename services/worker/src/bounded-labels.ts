/**
 * Limits the values of a label: the first `namesMax` names keep their own value, all further names share
 * `other`.
 */
export function createBoundedLabels(namesMax: number): (name: string | null) => string {
  const known = new Set<string>()
  return (name) => {
    // Prometheus treats an empty label as a missing one.
    if (name === null || name === '') return 'unknown'
    if (known.size < namesMax) known.add(name)
    return known.has(name) ? name : 'other'
  }
}
