import type { Database } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  endpoint,
  noContent,
  ok,
  oneOf,
  type Route,
  route,
  rowId,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import {
  changeFailureReportShape,
  presentStatement,
  statementParameters,
} from '../../shapes/deployment-statement.js'
import * as changeFailures from './change-failures.js'

export function changeFailureRoutes({ database, guards }: ProjectResourceDependencies): Route[] {
  const path = '/projects/:id/deployments/:deployment_id/change_failure'
  return [
    route('GET', path, guards.readDeployments, getChangeFailure(database), { refusesUnknown: true }),
    route('POST', path, guards.deploy, reportFailure(database), { refusesUnknown: true }),
    route('DELETE', path, guards.deploy, withdrawReport(database)),
  ]
}

const changeFailureShape = z
  .object({
    failed: z.boolean(),
    reasons: z.array(oneOf(changeFailures.failureReasons)).meta({
      description:
        'A finding that nobody dismissed, a later deployment that reverted this one, or the statement of a person',
    }),
    failed_at: z.date().nullable(),
    restored_at: z.date().nullable().meta({
      description:
        'The time at which the figures recovered, or at which the next successful deployment to the same environment replaced this one; null: the failure lasts',
    }),
    report: changeFailureReportShape.nullable(),
  })
  .meta({ id: 'ChangeFailure', description: 'Whether a deployment counts in the change failure rate' })

const getChangeFailure = (database: Database) =>
  endpoint({
    summary: 'Get whether a deployment counts as a failed change, and why',
    replies: { 200: changeFailureShape },
    input: z.object({ deployment_id: rowId() }),
    async handle({ deployment_id }, access: ProjectCall<Caller>, { baseUrl }) {
      const found = await changeFailures.getChangeFailure(database, access, deployment_id)
      return ok({
        failed: found.reasons.length > 0,
        reasons: found.reasons,
        failed_at: found.failedAt,
        restored_at: found.restoredAt,
        report: found.report && presentStatement(found.report, baseUrl),
      })
    },
  })

const reportFailure = (database: Database) =>
  endpoint({
    summary: 'Mark a deployment as a failed change',
    replies: { 201: changeFailureReportShape },
    input: z.object(statementParameters),
    async handle({ deployment_id: deploymentId, reason }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const said = { deploymentId, reason }
      const report = await changeFailures.failureReports.add(database, access, said, author)
      return created(presentStatement(report, call.baseUrl))
    },
  })

const withdrawReport = (database: Database) =>
  endpoint({
    summary: 'Withdraw the mark of a deployment as a failed change',
    replies: { 204: null },
    input: z.object({ deployment_id: rowId() }),
    async handle({ deployment_id }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      await changeFailures.failureReports.remove(database, access, deployment_id, author)
      return noContent()
    },
  })
