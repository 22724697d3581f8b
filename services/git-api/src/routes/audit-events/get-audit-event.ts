import { findAuditEvent } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { auditEventShape, presentAuditEvent } from '../../presenters/audit-event.js'

/** `GET /audit_events/:id` */
export const getAuditEvent = ({ database }: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: 'One entry of the audit log',
    replies: { 200: auditEventShape },
    input: z.object({ id: rowId() }),
    async handle({ id }) {
      const event = await findAuditEvent(database, BigInt(id))
      if (!event) throw notFound()
      return ok(presentAuditEvent(event))
    },
  })
