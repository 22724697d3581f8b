import { eventsOf } from '@switchyard/testing'

/** One server-sent event and when it came (epoch ms). */
export interface StreamEvent {
  event: string
  data: Record<string, unknown>
  atMs: number
}

export interface EventStream {
  response: Response
  /** Everything heard so far. */
  events: StreamEvent[]
  /** Comments heard so far: heartbeats. */
  comments: number
  /** Resolves when the server has ended the stream; rejects when it was cut. */
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
  // Whoever closes a stream knows that it ends.
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
