import { filledText, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Statement } from '../delivery/deployment-statements/deployment-statements.js'
import { presentUser, userShape } from './user.js'

const reasonCharsMax = 1000

/** The parameters of a request that says something of a deployment. */
export const statementParameters = { deployment_id: rowId(), reason: filledText(reasonCharsMax) }

const statementShape = (meta: { id: string; description: string }) =>
  z.object({ reason: z.string(), user: userShape.nullable(), created_at: z.date() }).meta(meta)

export const changeFailureReportShape = statementShape({
  id: 'ChangeFailureReport',
  description: "A person's statement that a deployment was a failed change",
})

export const impactDismissalShape = statementShape({
  id: 'ImpactDismissal',
  description: "A person's statement that the deployment is not the cause",
})

export const presentStatement = (
  { reason, user, createdAt }: Statement,
  baseUrl: string,
): z.output<ReturnType<typeof statementShape>> => ({
  reason,
  user: user && presentUser(user, baseUrl),
  created_at: createdAt,
})
