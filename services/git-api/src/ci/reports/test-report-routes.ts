import type { Database } from '@switchyard/db'
import { bigRowId, endpoint, ok, type Route, route } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { entriesMax, type TestCase, type TestCounts } from './entries.js'
import type { ReportDependencies } from './reports.js'
import type { TestSuite } from './test-report.js'
import * as testReport from './test-report.js'

export function testReportRoutes(deps: ReportDependencies): Route[] {
  const { database, guards } = deps
  const pipeline = '/projects/:id/pipelines/:pipeline_id'
  return [
    route('GET', `${pipeline}/test_report`, guards.readPipelines, getTestReport(deps)),
    route('GET', `${pipeline}/test_report_summary`, guards.readPipelines, getTestReportSummary(database)),
  ]
}

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
  .meta({ id: 'TestReportSummary', description: 'Number of tests of a pipeline by outcome' })

const countsOf = ({ total, success, failed, skipped, error, time }: TestCounts) => ({
  total_time: time,
  total_count: total,
  success_count: success,
  failed_count: failed,
  skipped_count: skipped,
  error_count: error,
})

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

const presentSuite = ({ report, testCases }: TestSuite): z.output<typeof suiteShape> => ({
  name: report.name,
  ...countsOf(report.tests),
  suite_error: null,
  test_cases: testCases.map(presentCase),
})

const getTestReport = (deps: ReportDependencies) =>
  endpoint({
    summary: `Get the test report of a pipeline; beyond ${entriesMax} tests, suites have only their totals`,
    replies: { 200: testReportShape },
    input: z.object({ pipeline_id: bigRowId() }),
    async handle({ pipeline_id: id }, access: ProjectCall, call) {
      const suites = await testReport.listTestSuites(deps, access, id, call)
      const sum = testReport.sumTests(suites.map(({ report }) => report))
      return ok({ ...countsOf(sum), test_suites: suites.map(presentSuite) })
    },
  })

const getTestReportSummary = (database: Database) =>
  endpoint({
    summary: 'Get the number of tests of a pipeline by outcome',
    replies: { 200: summaryShape },
    input: z.object({ pipeline_id: bigRowId() }),
    async handle({ pipeline_id: id }, access: ProjectCall) {
      const reports = await testReport.listTestReports(database, access, id)
      const { total: count, ...outcomes } = testReport.sumTests(reports)
      const suites = reports.map(({ name, tests, statusId }) => ({
        name,
        ...countsOf(tests),
        build_ids: [Number(statusId)],
        suite_error: null,
      }))
      return ok({ total: { ...outcomes, count, suite_error: null }, test_suites: suites })
    },
  })
