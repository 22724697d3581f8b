import { type Call, inSlot } from '@switchyard/service-kit/http'
import { LRUCache } from 'lru-cache'
import type { ProjectCall } from '../../guards.js'
import { getCommit } from '../../repository/commits/commits.js'
import type { Finding, ReportFormat } from './entries.js'
import { compareOutcomes } from './outcomes.js'
import { type ReportDependencies, type ReportEntries, readEntries } from './reports.js'
import { findContents, findOutcomes, listReports, type StoredReport } from './store.js'

/**
 * Most reports of a commit that are compared, and most tests or findings of each kind that a report shows.
 */
const comparedMax = 20
const testsShownMax = 100
const findingsShownMax = 1_000

type Test = ReportEntries['testCases'][number]

/** Tests with the same kind of change, such as fixed tests: their number, and the first of them. */
interface CountedTests {
  count: number
  tests: Test[]
}

/** The differences between a report and the report of the parent commit. */
export interface ReportChanges {
  report: StoredReport
  /** The first parent; null: it has no report of this name and format, so nothing counts as new or fixed. */
  parentSha: string | null
  added: CountedTests
  newFailures: CountedTests
  existingFailures: CountedTests
  fixed: CountedTests
  flaky: CountedTests
  findings: (Finding & { isNew: boolean })[]
  newFindings: number
  goneFindings: number
}

/** The differences between two reports, without the reports. */
type Comparison = Omit<ReportChanges, 'report' | 'parentSha'>

/** Most characters of all cached comparisons, as JSON. */
const keptCharsMax = 32 * 1024 * 1024

/**
 * Compares the newest reports of a commit with those of its first parent. Comparisons are cached, because the
 * report of an id never changes.
 */
export function reportComparer({ database, reportReads }: ReportDependencies) {
  const kept = new LRUCache<string, Comparison>({
    maxSize: keptCharsMax,
    sizeCalculation: (comparison) => JSON.stringify(comparison).length,
  })

  /** Returns the comparison; null: the report was replaced meanwhile. */
  async function compare(projectId: number, report: StoredReport, former: StoredReport | undefined) {
    const key = `${report.id} ${former?.id ?? ''}`
    const known = kept.get(key)
    if (known) return known
    const contents = await findContents(database, projectId, report.id)
    const before = former ? await findOutcomes(database, projectId, former.id) : null
    if (!contents || (former && !before)) return null
    const entries = await readEntries({ ...report, ...contents })
    const compared = comparisonOf({ format: report.format, outcomes: contents.outcomes, entries, before })
    kept.set(key, compared)
    return compared
  }

  /** @throws DomainError not-found for an unknown commit; rate-limited */
  return async (
    { project, repository }: ProjectCall,
    revision: string,
    call: Call,
  ): Promise<ReportChanges[]> => {
    const { id: sha, parentIds } = await getCommit(repository, revision)
    const [parentSha = null] = parentIds
    return inSlot(reportReads, call, async () => {
      const ofCommit = (id: string) => listReports(database, { projectId: project.id, sha: id })
      const { reports } = await ofCommit(sha)
      const before = parentSha === null || reports.length === 0 ? [] : (await ofCommit(parentSha)).reports
      const changes: ReportChanges[] = []
      // Compares one after the other, because the entries of each report may take megabytes.
      for (const report of reports.slice(0, comparedMax)) {
        const former = before.find(({ name, format }) => name === report.name && format === report.format)
        const compared = await compare(project.id, report, former)
        if (compared) changes.push({ report, parentSha: former?.sha ?? null, ...compared })
      }
      return changes
    })
  }
}

interface Compared {
  format: ReportFormat
  outcomes: Uint8Array
  entries: ReportEntries
  /** Outcomes of the report of the parent commit; null: there is no such report. */
  before: Uint8Array | null
}

function comparisonOf({ format, outcomes, entries, before }: Compared): Comparison {
  const { testCases, findings } = entries
  const compared = compareOutcomes(outcomes, before)
  const { added, broken, stillFailing, fixed, flaky, gone } = compared
  const tests = (positions: readonly number[]): CountedTests => ({
    count: format === 'junit' ? positions.length : 0,
    tests: positions.slice(0, testsShownMax).flatMap((position) => testCases[position] ?? []),
  })
  const isNew = new Set(added)
  return {
    added: tests(added),
    newFailures: tests(broken),
    existingFailures: tests(stillFailing),
    fixed: tests(fixed),
    flaky: tests(flaky),
    findings: findings
      .slice(0, findingsShownMax)
      .map((finding, position) => ({ ...finding, isNew: isNew.has(position) })),
    newFindings: format === 'sarif' ? added.length : 0,
    goneFindings: format === 'sarif' ? gone : 0,
  }
}
