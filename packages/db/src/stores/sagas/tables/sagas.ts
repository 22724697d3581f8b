import type { Saga } from '@switchyard/domain/saga'
import { flag, latin1, rowColumns, text, time } from '../../../sql/row-columns.js'
import { rowTable } from './row-table.js'

/** The one list of the columns of `sagas`. */
export const sagaTable = rowTable(
  'sagas',
  rowColumns<Saga>({
    id: text('id'),
    serviceName: text('service_name'),
    status: text('status'),
    outcome: text('outcome'),
    addTime: time('add_time'),
    startedAt: time('started_at'),
    endedAt: time('ended_at'),
    expiresAt: time('expires_at'),
    late: flag('late'),
    resolvedAt: time('resolved_at'),
    resolvedBy: text('resolved_by'),
    parentSagaId: text('parent_saga_id'),
    firstSeenAt: time('first_seen_at'),
    lastEventAt: time('last_event_at'),
    contentKeys: latin1('content_keys'),
  }),
)
