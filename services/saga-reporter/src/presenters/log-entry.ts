import type { LogEntry } from '@switchyard/db'

/** An entry of the log in the stream; `seq` is the one it has among the events of its saga. */
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
