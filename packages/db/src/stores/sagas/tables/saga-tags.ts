import { timeOf } from '../../../sql/row-columns.js'
import { type Column, insertInto } from '../../../sql/write-rows.js'

export interface SagaTag {
  tenant: string
  sagaId: string
  tag: string
  sagaFirstSeenAt: Date
}

const columns: readonly Column<SagaTag>[] = [
  { name: 'tenant', type: 'text', get: ({ tenant }) => tenant },
  { name: 'saga_id', type: 'text', get: ({ sagaId }) => sagaId },
  { name: 'tag', type: 'text', get: ({ tag }) => tag },
  { name: 'first_seen_at', type: 'timestamptz', get: ({ sagaFirstSeenAt }) => timeOf(sagaFirstSeenAt) },
]

export const insertTags = insertInto('saga_tags-insert', 'saga_tags', columns, 'ON CONFLICT DO NOTHING')
