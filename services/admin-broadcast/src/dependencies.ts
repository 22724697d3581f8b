import type { Database } from '@switchyard/db'
import type { Clock } from '@switchyard/domain'
import type { StreamPlaces } from '@switchyard/service-kit/http'
import type { MessageBoard } from './live/message-board.js'
import type { MessageStreams } from './live/message-streams.js'
import type { News } from './live/news.js'

/** What every endpoint of this service is given. */
export interface Dependencies {
  database: Database
  clock: Clock
  /** What is on now. */
  board: MessageBoard
  news: News
  streams: MessageStreams
  /** Places for streams. */
  places: StreamPlaces
}
