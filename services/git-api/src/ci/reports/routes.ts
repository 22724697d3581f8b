import type { Database } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  bigRowId,
  created,
  endpoint,
  filledText,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowsOf,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { optional, optionalText } from '../../shapes/parameters.js'
import * as changes from './changes.js'
import type { ParsedReport } from './entries.js'
import {
  presentChanges,
  presentReport,
  presentWholeReport,
  reportChangesShape,
  reportShape,
  wholeReportShape,
} from './present.js'
import type { ReportDependencies } from './reports.js'
import * as reports from './reports.js'
import { testReportRoutes } from './test-report-routes.js'

const bodyBytesMax = 10 * 1024 * 1024
const mediaTypes = ['application/xml', 'text/xml', 'application/sarif+json', 'application/json']

/** Reports of CI about a commit: test results and findings of analyses. */
export function reportRoutes(deps: ReportDependencies): Route[] {
  const { database, guards, reportThreads } = deps
  const { readStatuses, writeStatuses } = guards
  const path = '/projects/:id/statuses/:sha'
  const ownBody = {
    mediaTypes,
    parse: (body: Parameters<typeof reportThreads.parse>[0]) => reportThreads.parse(body),
  }
  return [
    route('POST', `${path}/report`, writeStatuses, storeReport(deps), { bodyBytesMax, ownBody }),
    route('GET', `${path}/report`, readStatuses, getReport(deps)),
    route('GET', `${path}/reports`, readStatuses, listReports(database), { refusesUnknown: true }),
    route('GET', `${path}/report_changes`, readStatuses, listReportChanges(deps)),
    ...testReportRoutes(deps),
  ]
}

const storeReport = (deps: ReportDependencies) =>
  endpoint({
    summary: 'Store or replace the report of a status (JUnit XML or SARIF 2.1.0)',
    replies: { 201: reportShape },
    body: Object.fromEntries(mediaTypes.map((type) => [type, {}])),
    refusals: [422],
    input: z.object({
      sha: text(),
      name: filledText().meta({ description: 'The name of the status' }),
      ref: optionalText(text()),
      pipeline_id: optional(bigRowId()),
    }),
    async handle({ sha: revision, name, ref, pipeline_id: pipelineId }, access: ProjectCall<Caller>, call) {
      const status = { revision, name, ref, pipelineId }
      const stored = await reports.storeReport(deps, access, status, call.body as ParsedReport)
      return created(presentReport(stored, call.baseUrl))
    },
  })

const which = {
  sha: text(),
  ref: optionalText(text()),
  format: optional(z.enum(['junit', 'sarif'])),
}

const getReport = (deps: ReportDependencies) =>
  endpoint({
    summary: 'Get the newest report of a status, with its tests or findings',
    replies: { 200: wholeReportShape },
    input: z.object({ ...which, name: filledText() }),
    async handle({ sha: revision, ...query }, access: ProjectCall, call) {
      const { report, entries } = await reports.getReport(deps, access, { revision, ...query }, call)
      return ok(presentWholeReport(report, entries, call.baseUrl))
    },
  })

const listReports = (database: Database) =>
  endpoint({
    summary: 'List the reports of a commit, newest first',
    replies: { 200: z.array(reportShape) },
    input: z.object({ ...which, ...pageParameters, name: optionalText(text()) }),
    async handle({ sha: revision, ref, format, name, ...page }, access: ProjectCall, call) {
      const query = { revision, ref, format, name }
      const found = await reports.listReports(database, access, query, rowsOf(page))
      const items = found.reports.map((report) => presentReport(report, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })

const listReportChanges = (deps: ReportDependencies) => {
  const compare = changes.reportComparer(deps)
  return endpoint({
    summary: 'Compare the newest 20 reports of a commit with those of its first parent',
    replies: { 200: z.array(reportChangesShape) },
    input: z.object({ sha: text() }),
    async handle({ sha }, access: ProjectCall, call) {
      const compared = await compare(access, sha, call)
      return ok(compared.map((each) => presentChanges(each, call.baseUrl)))
    },
  })
}
