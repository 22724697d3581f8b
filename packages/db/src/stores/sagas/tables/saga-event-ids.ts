import { type Column, insertInto } from '../../../sql/write-rows.js'
import type { TenantKey } from '../tenant-key.js'

const columns: readonly Column<TenantKey>[] = [
  { name: 'tenant', type: 'text', get: ({ tenant }) => tenant },
  { name: 'event_id', type: 'text', get: ({ id }) => id },
]

export const insertEventIds = insertInto(
  'saga_event_ids-insert',
  'saga_event_ids',
  columns,
  'ON CONFLICT DO NOTHING',
)
