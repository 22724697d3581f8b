import type { Activity, Saga } from '@switchyard/domain/saga'

/** A column and the key it has in the domain. */
export interface Column<Row> {
  name: string
  key: keyof Row
}

const columnsOf = <Row>(names: Partial<Record<keyof Row, string>>): Column<Row>[] =>
  Object.entries(names).map(([key, name]) => ({ name: name as string, key: key as keyof Row }))

export const sagaColumns = columnsOf<Saga>({
  id: 'id',
  serviceName: 'service_name',
  status: 'status',
  outcome: 'outcome',
  addTime: 'add_time',
  startedAt: 'started_at',
  endedAt: 'ended_at',
  expiresAt: 'expires_at',
  late: 'late',
  resolvedAt: 'resolved_at',
  resolvedBy: 'resolved_by',
  firstSeenAt: 'first_seen_at',
  lastEventAt: 'last_event_at',
})

/** Without payloads, which are read only where they are needed, and content keys, which only writers know. */
export const activityColumns = columnsOf<Activity>({
  id: 'id',
  sagaId: 'saga_id',
  order: '"order"',
  status: 'status',
  timeOutSeconds: 'time_out_seconds',
  executeAttempts: 'execute_attempts',
  compensateAttempts: 'compensate_attempts',
  retryReports: 'retry_reports',
  addTime: 'add_time',
  firstSeenAt: 'first_seen_at',
  lastEventAt: 'last_event_at',
  startedAt: 'started_at',
  endedAt: 'ended_at',
  abortedAt: 'aborted_at',
  overtimeAt: 'overtime_at',
  revokedAt: 'revoked_at',
  compensatingAt: 'compensating_at',
  compensatedAt: 'compensated_at',
  compensateAbortedAt: 'compensate_aborted_at',
  finalAbort: 'final_abort',
  givenUpAt: 'given_up_at',
  deadlineAt: 'deadline_at',
  overtimeNamedSaga: 'overtime_named_saga',
  executeErrors: 'execute_errors',
  executeErrorsSize: 'execute_errors_size',
  executeErrorsSha256: 'execute_errors_sha256',
  compensateErrors: 'compensate_errors',
  compensateErrorsSize: 'compensate_errors_size',
  compensateErrorsSha256: 'compensate_errors_sha256',
  errorFingerprint: 'error_fingerprint',
  parameterSize: 'parameter_size',
  parameterSha256: 'parameter_sha256',
  resultSize: 'result_size',
  resultSha256: 'result_sha256',
  anomalies: 'anomalies',
})

/** `table.name AS "key"` for every column. */
export const selectList = <Row>(table: string, columns: Column<Row>[]): string =>
  columns.map(({ name, key }) => `${table}.${name} AS "${String(key)}"`).join(', ')
