import type { Database } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  endpoint,
  filledText,
  noContent,
  type Route,
  route,
  rowId,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import {
  changeFailureReportShape,
  impactDismissalShape,
  presentStatement,
} from '../../shapes/deployment-statement.js'
import { failureReports } from '../change-failures/change-failures.js'
import { dismissals } from '../impacts/impacts.js'
import { addStatement, removeStatement, type StatementKind } from './deployment-statements.js'

/** A kind of statement with its texts for the documentation of the API. */
interface DocumentedKind {
  kind: StatementKind
  summaries: { add: string; remove: string }
  shape: typeof changeFailureReportShape
  refusals: number[]
}

const changeFailure: DocumentedKind = {
  kind: failureReports,
  summaries: {
    add: 'Say that a deployment was a failed change',
    remove: 'Take back that a deployment was a failed change',
  },
  shape: changeFailureReportShape,
  refusals: [],
}

const dismissal: DocumentedKind = {
  kind: dismissals,
  summaries: {
    add: 'Say that a deployment is not the reason of what became worse',
    remove: 'Take back that a deployment is not the reason',
  },
  shape: impactDismissalShape,
  refusals: [409],
}

/**
 * Endpoints for statements about deployments. The effects are read at the paths of change failures and
 * impacts.
 */
export function deploymentStatementRoutes({ database, guards }: ProjectResourceDependencies): Route[] {
  const deployment = '/projects/:id/deployments/:deployment_id'
  const { deploy } = guards
  const options = { refusesUnknown: true }
  return [
    route('POST', `${deployment}/change_failure`, deploy, createStatement(database, changeFailure), options),
    route('DELETE', `${deployment}/change_failure`, deploy, deleteStatement(database, changeFailure)),
    route('POST', `${deployment}/impact/dismissal`, deploy, createStatement(database, dismissal), options),
    route('DELETE', `${deployment}/impact/dismissal`, deploy, deleteStatement(database, dismissal)),
  ]
}

const deploymentId = { deployment_id: rowId() }
const reasonCharsMax = 1000

const createStatement = (database: Database, { kind, summaries, shape, refusals }: DocumentedKind) =>
  endpoint({
    summary: summaries.add,
    replies: { 201: shape },
    refusals,
    input: z.object({ ...deploymentId, reason: filledText(reasonCharsMax) }),
    async handle({ deployment_id, reason }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const statement = await addStatement(
        database,
        kind,
        access,
        { deploymentId: deployment_id, reason },
        author,
      )
      return created(presentStatement(statement, call.baseUrl))
    },
  })

const deleteStatement = (database: Database, { kind, summaries }: DocumentedKind) =>
  endpoint({
    summary: summaries.remove,
    replies: { 204: null },
    input: z.object(deploymentId),
    async handle({ deployment_id }, access: ProjectCall<Caller>, call) {
      await removeStatement(database, kind, access, deployment_id, auditAuthor(access.caller, call))
      return noContent()
    },
  })
