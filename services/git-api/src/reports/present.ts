import { z } from 'zod'
import { presentUser, userShape } from '../shapes/user.js'
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

export const testCaseShape = z
  .object({
    suite: z.string(),
    classname: z.string(),
    name: z.string(),
    file: z.string().nullable(),
    status: z.enum(['success', 'failed', 'error', 'skipped']),
    time: z.number(),
    message: z.string().nullable(),
    details: z.string().nullable(),
    flaky: z.boolean().meta({ description: 'It failed and passed in reports of this name and commit' }),
  })
  .meta({ id: 'TestCase', description: 'One test of a report' })

export const findingShape = z
  .object({
    tool: z.string(),
    rule: z.string().nullable(),
    level: z.enum(['error', 'warning', 'note', 'none']),
    message: z.string(),
    path: z
      .string()
      .nullable()
      .meta({ description: 'From the root of the repository; null: no place in it' }),
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
