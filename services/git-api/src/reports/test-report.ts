import type { Database } from '@switchyard/db'
import { endpoint, inSlot, ok, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../guards.js'
import { getPipeline } from '../pipelines/pipelines.js'
import { addSeconds, entriesMax, type TestCase, type TestCounts } from './entries.js'
import { type ReportDependencies, readEntries } from './reports.js'
import { findContents, listReports, type StoredReport } from './store.js'

const suiteCounts = {
  name: z.string().meta({ description: 'The name of the status' }),
  total_time: z.number(),
  total_count: z.int(),
  success_count: z.int(),
  failed_count: z.int(),
  skipped_count: z.int(),
  error_count: z.int(),
}

const suiteShape = z.object({
  ...suiteCounts,
  suite_error: z.null(),
  test_cases: z.array(
    z.object({
      status: z.enum(['success', 'failed', 'error', 'skipped']),
      name: z.string(),
      classname: z.string(),
      file: z.string().nullable(),
      execution_time: z.number(),
      system_output: z.string().nullable(),
      stack_trace: z.null(),
      recent_failures: z.null(),
    }),
  ),
})

const { name: _name, ...totals } = suiteCounts
const testReportShape = z
  .object({ ...totals, test_suites: z.array(suiteShape) })
  .meta({ id: 'TestReport', description: 'The tests of a pipeline, each report as a suite' })

const summaryShape = z
  .object({
    total: z.object({
      time: z.number(),
      count: z.int(),
      success: z.int(),
      failed: z.int(),
      skipped: z.int(),
      error: z.int(),
      suite_error: z.null(),
    }),
    test_suites: z.array(z.object({ ...suiteCounts, build_ids: z.array(z.int()), suite_error: z.null() })),
  })
  .meta({ id: 'TestReportSummary', description: 'How many tests of a pipeline there are of each outcome' })

type TestsReport = StoredReport & { tests: TestCounts }

/** The reports of tests of a pipeline, the first posted first. */
async function reportsOf(database: Database, access: ProjectCall, id: number): Promise<TestsReport[]> {
  const { pipeline } = await getPipeline(database, access, id)
  const filter = { projectId: access.project.id, sha: pipeline.sha, pipelineId: pipeline.id }
  const { reports } = await listReports(database, { ...filter, format: 'junit' })
  return reports.reverse().flatMap((report) => (report.tests ? [{ ...report, tests: report.tests }] : []))
}

const countsOf = ({ total, success, failed, skipped, error, time }: TestCounts) => ({
  total_time: time,
  total_count: total,
  success_count: success,
  failed_count: failed,
  skipped_count: skipped,
  error_count: error,
})

function sumOf(reports: readonly TestsReport[]): TestCounts {
  const sum: TestCounts = { total: 0, success: 0, failed: 0, error: 0, skipped: 0, time: 0 }
  for (const { tests } of reports) {
    for (const key of Object.keys(sum) as (keyof TestCounts)[]) sum[key] = addSeconds(sum[key], tests[key])
  }
  return sum
}

const presentCase = ({ status, name, classname, file, time, message, details }: TestCase) => ({
  status,
  name,
  classname,
  file,
  execution_time: time,
  system_output: message === null ? details : [message, ...(details === null ? [] : [details])].join('\n'),
  stack_trace: null,
  recent_failures: null,
})

async function readSuites(database: Database, projectId: number, reports: readonly TestsReport[]) {
  const suites: z.output<typeof suiteShape>[] = []
  let shown = 0
  for (const report of reports) {
    const fits = shown + report.tests.total <= entriesMax
    // One after the other, as each may take megabytes. A report that was replaced meanwhile has no tests.
    const contents = fits ? await findContents(database, projectId, report.id) : null
    const { testCases } = contents ? await readEntries({ ...report, ...contents }) : { testCases: [] }
    shown += testCases.length
    const counts = { name: report.name, ...countsOf(report.tests), suite_error: null }
    suites.push({ ...counts, test_cases: testCases.map(presentCase) })
  }
  return suites
}

export const getTestReport = ({ database, reportReads }: ReportDependencies) =>
  endpoint({
    summary: `The tests of a pipeline; when there are more than ${entriesMax}, the suites beyond them show their numbers alone`,
    replies: { 200: testReportShape },
    input: z.object({ pipeline_id: rowId() }),
    async handle({ pipeline_id: id }, access: ProjectCall, call) {
      const reports = await reportsOf(database, access, id)
      const suites = await inSlot(reportReads, call, () => readSuites(database, access.project.id, reports))
      return ok({ ...countsOf(sumOf(reports)), test_suites: suites })
    },
  })

export const getTestReportSummary = (database: Database) =>
  endpoint({
    summary: 'How many tests of a pipeline there are of each outcome',
    replies: { 200: summaryShape },
    input: z.object({ pipeline_id: rowId() }),
    async handle({ pipeline_id: id }, access: ProjectCall) {
      const reports = await reportsOf(database, access, id)
      const { total: count, ...outcomes } = sumOf(reports)
      const suites = reports.map(({ name, tests, statusId }) => ({
        name,
        ...countsOf(tests),
        build_ids: [Number(statusId)],
        suite_error: null,
      }))
      return ok({ total: { ...outcomes, count, suite_error: null }, test_suites: suites })
    },
  })
