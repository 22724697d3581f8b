import type { Database } from '@switchyard/db'
import { systemClock } from '@switchyard/domain'
import { boundTenantsOf, type Caller, ownTenant } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  endpoint,
  noContent,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowId,
  rowsOf,
  signedIn,
  text,
  time,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import {
  impactDismissalShape,
  presentStatement,
  statementParameters,
} from '../../shapes/deployment-statement.js'
import { foundImpactShape, presentFoundImpact } from '../../shapes/impact-finding.js'
import { optional, optionalText, serviceCharsMax } from '../../shapes/parameters.js'
import * as impacts from './impacts.js'
import { impactShape, presentImpact } from './present.js'

export function impactRoutes({ database, guards }: ProjectResourceDependencies): Route[] {
  const impact = '/projects/:id/deployments/:deployment_id/impact'
  const { readDeployments, deploy } = guards
  return [
    route('GET', '/deployment_impacts', signedIn, listFindings(database), { refusesUnknown: true }),
    route('GET', impact, readDeployments, getImpact(database), { refusesUnknown: true }),
    route('POST', `${impact}/dismissal`, deploy, dismissImpact(database), { refusesUnknown: true }),
    route('DELETE', `${impact}/dismissal`, deploy, restoreImpact(database)),
  ]
}

const listFindings = (database: Database) =>
  endpoint({
    summary: 'List the findings about deployments that the caller may read, newest first',
    replies: { 200: z.array(foundImpactShape) },
    input: z.object({
      ...pageParameters,
      tenant: optionalText(text()).meta({
        description:
          'Default: the tenant of the token, or `default`; findings about queues belong to no tenant',
      }),
      service_name: optionalText(text(serviceCharsMax)),
      fingerprint: optionalText(text(serviceCharsMax)).meta({ description: 'Fingerprint of a new failure' }),
      began_after: optional(time()),
      began_before: optional(time()),
    }),
    async handle(given, caller: Caller, call) {
      const filter = {
        tenant: given.tenant ?? ownTenant(boundTenantsOf(caller)),
        serviceName: given.service_name,
        fingerprint: given.fingerprint,
        beganAfter: given.began_after,
        beganBefore: given.began_before,
      }
      const found = await impacts.listFindings(database, caller, filter, rowsOf(given))
      const items = found.findings.map((finding) => presentFoundImpact(finding, call.baseUrl))
      return pageReply(items, given, found.total, call)
    },
  })

const getImpact = (database: Database) =>
  endpoint({
    summary: 'Get the impact of a deployment on its services',
    replies: { 200: impactShape },
    input: z.object({ deployment_id: rowId() }),
    async handle({ deployment_id }, access: ProjectCall<Caller>, call) {
      const impact = await impacts.getImpact(database, access, deployment_id, systemClock())
      return ok(presentImpact(impact, call.baseUrl))
    },
  })

const dismissImpact = (database: Database) =>
  endpoint({
    summary: 'Dismiss the findings about a deployment',
    replies: { 201: impactDismissalShape },
    refusals: [409],
    input: z.object(statementParameters),
    async handle({ deployment_id: deploymentId, reason }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const said = { deploymentId, reason }
      const dismissal = await impacts.dismissals.add(database, access, said, author)
      return created(presentStatement(dismissal, call.baseUrl))
    },
  })

const restoreImpact = (database: Database) =>
  endpoint({
    summary: 'Withdraw the dismissal of the findings about a deployment',
    replies: { 204: null },
    input: z.object({ deployment_id: rowId() }),
    async handle({ deployment_id }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      await impacts.dismissals.remove(database, access, deployment_id, author)
      return noContent()
    },
  })
