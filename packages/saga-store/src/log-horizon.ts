import { sequenceHorizon } from '@switchyard/db'

// A position is an id of the log, drawn from this sequence.
const horizon = sequenceHorizon('saga_events_id_seq', 'saga-log')

/** Returns the last position that was drawn, whether or not its entry is visible or ever will be. */
export const readLastPosition = horizon.readLast

/**
 * Returns the active transactions that may have drawn positions. Once all of those that were active after a
 * position was drawn have ended, no further entry at that position becomes visible.
 */
export const readLogWriters = horizon.readWriters

/** Returns whether one of these transactions is still active. */
export const isAnyWriterActive = horizon.isAnyActive

/**
 * Returns the last position up to which the log can be read without a gap. A reader that went further would
 * miss entries of transactions that have drawn a position and not committed yet.
 *
 * @returns null when such a transaction is still active after two seconds
 */
export const findLogHorizon = horizon.find
