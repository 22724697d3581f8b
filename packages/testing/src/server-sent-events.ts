import { type EventSourceMessage, EventSourceParserStream } from 'eventsource-parser/stream'

/** Returns the server-sent events of an answer, as they come; none without a body. */
export const eventsOf = (
  { body }: Response,
  onComment: () => void = () => {},
): ReadableStream<EventSourceMessage> =>
  (body ?? new Blob([]).stream())
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream({ onComment }))
