import type { Activity } from '@switchyard/domain/saga'
import { bytes, flag, integer, latin1, rowColumns, text, time, words } from '../../../sql/row-columns.js'
import { rowTable } from './row-table.js'

/** The one list of the columns of `saga_activities`. */
export const activityTable = rowTable(
  'saga_activities',
  rowColumns<Activity>({
    id: text('id'),
    sagaId: text('saga_id'),
    order: integer('"order"'),
    status: text('status'),
    timeOutSeconds: integer('time_out_seconds'),
    executeAttempts: integer('execute_attempts'),
    compensateAttempts: integer('compensate_attempts'),
    retryReports: integer('retry_reports'),
    addTime: time('add_time'),
    firstSeenAt: time('first_seen_at'),
    lastEventAt: time('last_event_at'),
    startedAt: time('started_at'),
    endedAt: time('ended_at'),
    abortedAt: time('aborted_at'),
    overtimeAt: time('overtime_at'),
    revokedAt: time('revoked_at'),
    compensatingAt: time('compensating_at'),
    compensatedAt: time('compensated_at'),
    compensateAbortedAt: time('compensate_aborted_at'),
    finalAbort: flag('final_abort'),
    givenUpAt: time('given_up_at'),
    deadlineAt: time('deadline_at'),
    overtimeNamedSaga: flag('overtime_named_saga'),
    executeErrors: text('execute_errors'),
    executeErrorsSize: integer('execute_errors_size'),
    executeErrorsSha256: bytes('execute_errors_sha256'),
    compensateErrors: text('compensate_errors'),
    compensateErrorsSize: integer('compensate_errors_size'),
    compensateErrorsSha256: bytes('compensate_errors_sha256'),
    errorFingerprint: text('error_fingerprint'),
    // Events only depend on whether there is a parameter, so an empty one is read in its place.
    parameterData: {
      ...bytes('parameter_data'),
      isFinal: true,
      readAs: `CASE WHEN stored.parameter_data IS NOT NULL THEN ''::bytea END`,
    },
    parameterSize: integer('parameter_size'),
    parameterSha256: bytes('parameter_sha256'),
    resultData: { ...bytes('result_data'), isFinal: true },
    resultSize: integer('result_size'),
    resultSha256: bytes('result_sha256'),
    anomalies: words('anomalies'),
    contentKeys: latin1('content_keys'),
  }),
)
