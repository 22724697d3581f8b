import { eventsOf } from '@switchyard/testing'

/** A server-sent event and the time of its arrival (epoch ms). */
export interface StreamEvent {
  event: string
  data: Record<string, unknown>
  atMs: number
}

export interface EventStream {
  response: Response
  /** All events so far. */
  events: StreamEvent[]
  /** Number of comments so far, which are heartbeats. */
  comments: number
  /** Resolves when the server has ended the stream; rejects when the connection broke. */
  ended: Promise<void>
  close(): void
}

/** Follows a stream of server-sent events. */
export async function openStream(url: string): Promise<EventStream> {
  const abort = new AbortController()
  const response = await fetch(url, { signal: abort.signal })
  const stream: EventStream = {
    response,
    events: [],
    comments: 0,
    ended: Promise.resolve(),
    close: () => abort.abort(),
  }
  if (response.status === 200) stream.ended = read(response, stream)
  // A caller that closes a stream does not wait for its end.
  stream.ended.catch(() => {})
  return stream
}

async function read(response: Response, stream: EventStream): Promise<void> {
  const heard = () => {
    stream.comments += 1
  }
  for await (const { event, data } of eventsOf(response, heard))
    if (event !== undefined) stream.events.push({ event, data: JSON.parse(data), atMs: Date.now() })
}
