import type { Database } from '@switchyard/db'
import { type Call, inSlot } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../../guards.js'
import { getPipeline } from '../pipelines/pipelines.js'
import { addSeconds, entriesMax, type TestCase, type TestCounts } from './entries.js'
import { type ReportDependencies, readEntries } from './reports.js'
import { findContents, listReports, type StoredReport } from './store.js'

export type TestsReport = StoredReport & { tests: TestCounts }

/**
 * A test report. It has no tests when the reports before it have used up the number of tests that is shown.
 */
export interface TestSuite {
  report: TestsReport
  testCases: TestCase[]
}

/** Lists the test reports of a pipeline, in the order of their first posts. @throws DomainError not-found */
export async function listTestReports(
  database: Database,
  access: ProjectCall,
  pipelineId: number,
): Promise<TestsReport[]> {
  const { pipeline } = await getPipeline(database, access, pipelineId)
  const filter = { projectId: access.project.id, sha: pipeline.sha, pipelineId: pipeline.id }
  const { reports } = await listReports(database, { ...filter, format: 'junit' })
  return reports.reverse().flatMap((report) => (report.tests ? [{ ...report, tests: report.tests }] : []))
}

/** Lists the test reports of a pipeline with their tests. @throws DomainError not-found */
export async function listTestSuites(
  { database, reportReads }: Pick<ReportDependencies, 'database' | 'reportReads'>,
  access: ProjectCall,
  pipelineId: number,
  call: Call,
): Promise<TestSuite[]> {
  const reports = await listTestReports(database, access, pipelineId)
  return inSlot(reportReads, call, () => readSuites(database, access.project.id, reports))
}

async function readSuites(database: Database, projectId: number, reports: readonly TestsReport[]) {
  const suites: TestSuite[] = []
  let shown = 0
  for (const report of reports) {
    const fits = shown + report.tests.total <= entriesMax
    // Reads one after the other, because each may take megabytes. A report that was replaced meanwhile has no
    // tests.
    const contents = fits ? await findContents(database, projectId, report.id) : null
    const { testCases } = contents ? await readEntries({ ...report, ...contents }) : { testCases: [] }
    shown += testCases.length
    suites.push({ report, testCases })
  }
  return suites
}

export function sumTests(reports: readonly TestsReport[]): TestCounts {
  const sum: TestCounts = { total: 0, success: 0, failed: 0, error: 0, skipped: 0, time: 0 }
  for (const { tests } of reports) {
    for (const key of Object.keys(sum) as (keyof TestCounts)[]) sum[key] = addSeconds(sum[key], tests[key])
  }
  return sum
}
