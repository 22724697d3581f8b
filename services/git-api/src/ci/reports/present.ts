import { z } from 'zod'
import { presentUser, userShape } from '../../shapes/user.js'
import type { ReportChanges } from './changes.js'
import type { ReportEntries } from './reports.js'
import type { StoredReport } from './store.js'

const testCountsShape = z.object({
  total: z.int(),
  success: z.int(),
  failed: z.int(),
  error: z.int(),
  skipped: z.int(),
  time: z.number().meta({ description: 'Seconds that all tests took together' }),
})

const findingCountsShape = z.object({
  total: z.int(),
  error: z.int(),
  warning: z.int(),
  note: z.int(),
  none: z.int(),
})

const fields = {
  id: z.int(),
  sha: z.string(),
  ref: z.string().nullable(),
  name: z.string(),
  format: z.enum(['junit', 'sarif']),
  pipeline_id: z.int(),
  created_at: z.date(),
  author: userShape.nullable(),
  tests: testCountsShape.nullable(),
  findings: findingCountsShape.nullable(),
}

export const reportShape = z
  .object(fields)
  .meta({ id: 'StatusReport', description: 'Results of tests or of an analysis that belong to a status' })

const testCaseShape = z
  .object({
    suite: z.string(),
    classname: z.string(),
    name: z.string(),
    file: z.string().nullable(),
    status: z.enum(['success', 'failed', 'error', 'skipped']),
    time: z.number(),
    message: z.string().nullable(),
    details: z.string().nullable(),
    flaky: z
      .boolean()
      .meta({ description: 'The test failed and passed in reports with this name and commit' }),
  })
  .meta({ id: 'TestCase', description: 'One test of a report' })

const findingShape = z
  .object({
    tool: z.string(),
    rule: z.string().nullable(),
    level: z.enum(['error', 'warning', 'note', 'none']),
    message: z.string(),
    path: z
      .string()
      .nullable()
      .meta({ description: 'Path from the root of the repository; null: no position in a file' }),
    line: z.int().nullable(),
    end_line: z.int().nullable(),
  })
  .meta({ id: 'Finding', description: 'One result of an analysis' })

export const wholeReportShape = z
  .object({ ...fields, test_cases: z.array(testCaseShape), results: z.array(findingShape) })
  .meta({ id: 'WholeStatusReport', description: 'A report with its tests or findings' })

export const presentReport = (report: StoredReport, baseUrl: string): z.output<typeof reportShape> => ({
  id: Number(report.id),
  sha: report.sha,
  ref: report.ref,
  name: report.name,
  format: report.format,
  pipeline_id: Number(report.pipelineId),
  created_at: report.createdAt,
  author: report.author && presentUser(report.author, baseUrl),
  tests: report.tests,
  findings: report.findings,
})

export const presentWholeReport = (
  report: StoredReport,
  { testCases, findings }: ReportEntries,
  baseUrl: string,
): z.output<typeof wholeReportShape> => ({
  ...presentReport(report, baseUrl),
  test_cases: testCases,
  results: findings,
})

const countedTestsShape = z
  .object({ count: z.int(), tests: z.array(testCaseShape) })
  .meta({ id: 'CountedTests', description: 'Number of tests of a kind, and the first 100 of them' })

export const reportChangesShape = z
  .object({
    report: reportShape,
    parent_sha: z.string().nullable().meta({
      description:
        'The first parent; null: it has no report of this name and format, so nothing is new or fixed',
    }),
    new_tests: countedTestsShape,
    new_failures: countedTestsShape,
    existing_failures: countedTestsShape,
    fixed: countedTestsShape,
    flaky: countedTestsShape,
    results: z
      .array(findingShape.extend({ new: z.boolean() }))
      .meta({ description: 'The first 1,000 findings' }),
    new_results: z.int(),
    fixed_results: z.int(),
  })
  .meta({ id: 'StatusReportChanges', description: 'A report compared with that of the parent commit' })

export const presentChanges = (
  changes: ReportChanges,
  baseUrl: string,
): z.output<typeof reportChangesShape> => ({
  report: presentReport(changes.report, baseUrl),
  parent_sha: changes.parentSha,
  new_tests: changes.added,
  new_failures: changes.newFailures,
  existing_failures: changes.existingFailures,
  fixed: changes.fixed,
  flaky: changes.flaky,
  results: changes.findings.map(({ isNew, ...finding }) => ({ ...finding, new: isNew })),
  new_results: changes.newFindings,
  fixed_results: changes.goneFindings,
})
