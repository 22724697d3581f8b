import type { Database } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  endpoint,
  filledText,
  noContent,
  ok,
  oneOf,
  type Route,
  route,
  rowId,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../guards.js'
import { presentUser, userShape } from '../shapes/user.js'
import * as changeFailures from './change-failures.js'
import type { FailureReport } from './store.js'

export function changeFailureRoutes({ database, guards }: ProjectResourceDependencies): Route[] {
  const path = '/projects/:id/deployments/:deployment_id/change_failure'
  return [
    route('GET', path, guards.readDeployments, getChangeFailure(database)),
    route('POST', path, guards.deploy, reportFailure(database)),
    route('DELETE', path, guards.deploy, withdrawReport(database)),
  ]
}

const deploymentId = { deployment_id: rowId() }
const reasonCharsMax = 1000

const reportShape = z
  .object({ reason: z.string(), user: userShape.nullable(), created_at: z.date() })
  .meta({ id: 'ChangeFailureReport', description: 'What a person says who calls a deployment a failure' })

const changeFailureShape = z
  .object({
    failed: z.boolean(),
    reasons: z.array(oneOf(changeFailures.failureReasons)).meta({
      description:
        'A finding that nobody dismissed, a later deployment that took this one back, or what a person said',
    }),
    failed_at: z.date().nullable(),
    restored_at: z.date().nullable().meta({
      description:
        'When the figures were back, or the next successful deployment to the same environment ended it; null: it lasts',
    }),
    report: reportShape.nullable(),
  })
  .meta({ id: 'ChangeFailure', description: 'Whether a deployment counts in the change failure rate' })

const presentReport = (
  { reason, user, createdAt }: FailureReport,
  baseUrl: string,
): z.output<typeof reportShape> => ({
  reason,
  user: user && presentUser(user, baseUrl),
  created_at: createdAt,
})

const getChangeFailure = (database: Database) =>
  endpoint({
    summary: 'Whether a deployment counts as a failed change, and why',
    replies: { 200: changeFailureShape },
    input: z.object(deploymentId),
    async handle({ deployment_id }, access: ProjectCall<Caller>, { baseUrl }) {
      const found = await changeFailures.getChangeFailure(database, access, deployment_id)
      return ok({
        failed: found.reasons.length > 0,
        reasons: found.reasons,
        failed_at: found.failedAt,
        restored_at: found.restoredAt,
        report: found.report && presentReport(found.report, baseUrl),
      })
    },
  })

const reportFailure = (database: Database) =>
  endpoint({
    summary: 'Say that a deployment was a failed change',
    replies: { 201: reportShape },
    input: z.object({ ...deploymentId, reason: filledText(reasonCharsMax) }),
    async handle({ deployment_id: deploymentId, reason }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const report = await changeFailures.reportFailure(database, access, { deploymentId, reason }, author)
      return created(presentReport(report, call.baseUrl))
    },
  })

const withdrawReport = (database: Database) =>
  endpoint({
    summary: 'Take back that a deployment was a failed change',
    replies: { 204: null },
    input: z.object(deploymentId),
    async handle({ deployment_id }, access: ProjectCall<Caller>, call) {
      await changeFailures.withdrawReport(database, access, deployment_id, auditAuthor(access.caller, call))
      return noContent()
    },
  })
