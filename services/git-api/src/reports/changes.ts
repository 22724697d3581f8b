import type { Database } from '@switchyard/db'
import { getCommit } from '../commits/commits.js'
import type { ProjectCall } from '../guards.js'
import type { Finding } from './entries.js'
import { compareOutcomes } from './outcomes.js'
import { type ReportEntries, readEntries } from './reports.js'
import { findContents, findOutcomes, listReports, type StoredReport } from './store.js'

/** Reports of a commit that are compared, and tests or findings of a report that are shown of each kind. */
const comparedMax = 20
const testsShownMax = 100
const findingsShownMax = 1_000

type Test = ReportEntries['testCases'][number]

/** Tests of one kind: all of them are counted, the first are shown. */
interface CountedTests {
  count: number
  tests: Test[]
}

/** What a report has that the report of the parent commit has not. */
export interface ReportChanges {
  report: StoredReport
  /** The first parent; null: it has no report of this name and format, so nothing is new or fixed. */
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

/**
 * The newest reports of a commit, compared with those of its first parent.
 *
 * @throws DomainError not-found for an unknown commit
 */
export async function listReportChanges(
  database: Database,
  { project, repository }: ProjectCall,
  revision: string,
): Promise<ReportChanges[]> {
  const { id: sha, parentIds } = await getCommit(repository, revision)
  const ofCommit = (id: string) => listReports(database, { projectId: project.id, sha: id })
  const [parentSha = null] = parentIds
  const { reports } = await ofCommit(sha)
  const before = parentSha === null || reports.length === 0 ? [] : (await ofCommit(parentSha)).reports
  const changes: ReportChanges[] = []
  // One after the other, as the entries of each may take megabytes.
  for (const report of reports.slice(0, comparedMax)) {
    const former = before.find(({ name, format }) => name === report.name && format === report.format)
    const contents = await findContents(database, project.id, report.id)
    if (!contents) continue
    const formerOutcomes = former ? await findOutcomes(database, project.id, former.id) : null
    const parent = former && formerOutcomes && { sha: former.sha, outcomes: formerOutcomes }
    const { outcomes } = contents
    const entries = await readEntries({ ...report, ...contents })
    changes.push(changesOf({ report, outcomes, entries, parent: parent ?? null }))
  }
  return changes
}

interface Compared {
  report: StoredReport
  outcomes: Uint8Array
  entries: ReportEntries
  /** The report of the parent commit; null: it has none. */
  parent: { sha: string; outcomes: Uint8Array } | null
}

function changesOf({ report, outcomes, entries, parent }: Compared): ReportChanges {
  const { testCases, findings } = entries
  const compared = compareOutcomes(outcomes, parent?.outcomes ?? null)
  const { added, broken, stillFailing, fixed, flaky, gone } = compared
  const tests = (positions: readonly number[]): CountedTests => ({
    count: report.format === 'junit' ? positions.length : 0,
    tests: positions.slice(0, testsShownMax).flatMap((position) => testCases[position] ?? []),
  })
  const isNew = new Set(added)
  return {
    report,
    parentSha: parent?.sha ?? null,
    added: tests(added),
    newFailures: tests(broken),
    existingFailures: tests(stillFailing),
    fixed: tests(fixed),
    flaky: tests(flaky),
    findings: findings
      .slice(0, findingsShownMax)
      .map((finding, position) => ({ ...finding, isNew: isNew.has(position) })),
    newFindings: report.format === 'sarif' ? added.length : 0,
    goneFindings: report.format === 'sarif' ? gone : 0,
  }
}
