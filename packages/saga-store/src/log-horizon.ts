import { sequenceHorizon } from '@switchyard/db'

// A position is an id of the log, drawn from this sequence.
const horizon = sequenceHorizon('saga_events_id_seq', 'saga-log')

/** The last position that was drawn, whether or not its entry is visible or ever will be. */
export const readLastPosition = horizon.readLast

/**
 * The transactions under way that may have drawn positions. When all transactions that were under way after a
 * position was drawn have ended, no entry at that position becomes visible any more.
 */
export const readLogWriters = horizon.readWriters

/**
 * The last position up to which the log can be read without a gap. A reader that went further would miss
 * entries whose transactions have drawn a position and not committed yet.
 *
 * @returns null when such a transaction is still under way after two seconds
 */
export const findLogHorizon = horizon.find
