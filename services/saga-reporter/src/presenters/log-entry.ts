import type { LogEntry } from '@switchyard/db'

/** An entry of the log in a stream; `seq` is the same as in the list of the saga's events. */
export const presentLogEntry = (entry: LogEntry) => ({
  seq: entry.sequence,
  tenant: entry.tenant,
  saga_id: entry.sagaId,
  activity_id: entry.activityId,
  operation: entry.operation,
  result: entry.result,
  received_at: entry.receivedAt,
  event_time: entry.eventTime,
  service_name: entry.serviceName,
  status: entry.status,
  outcome: entry.outcome,
  activity_status: entry.activityStatus,
})
