import type { Database } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import type { StreamSlots } from '@switchyard/service-kit/http'
import type { ChangeNotices } from './live/change-notices.js'
import type { MessageBoard } from './live/message-board.js'
import type { MessageStreams } from './live/message-streams.js'

/** The parts that the endpoints of this service use. */
export interface Dependencies {
  database: Database
  clock: Clock
  /** The active messages. */
  board: MessageBoard
  changeNotices: ChangeNotices
  streams: MessageStreams
  streamSlots: StreamSlots
}
