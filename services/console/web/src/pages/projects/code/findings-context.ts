import { createContext, useContext, useMemo } from 'react'
import type { StatusReportChanges } from '../../../generated/types.gen'
import { positionKey } from './comments-context'

export type Finding = StatusReportChanges['results'][number]

/** The findings of analyses in the shown commit. */
export const FindingsContext = createContext<readonly Finding[]>([])

/** Returns the findings in a file, by line of the file after the commit. */
export function useFindingsOf(path: string): ReadonlyMap<string, Finding[]> {
  const findings = useContext(FindingsContext)
  return useMemo(() => {
    const byPosition = new Map<string, Finding[]>()
    for (const finding of findings) {
      if (finding.path !== path || finding.line === null) continue
      const key = positionKey('new', finding.line)
      byPosition.set(key, [...(byPosition.get(key) ?? []), finding])
    }
    return byPosition
  }, [findings, path])
}
