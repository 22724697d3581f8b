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
  let text = ''
  const body = response.body as ReadableStream<Uint8Array>
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) take(block, stream)
  }
}

function take(block: string, stream: EventStream): void {
  const lines = block.split('\n')
  const fieldOf = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  if (lines.some((line) => line.startsWith(':'))) stream.comments += 1
  const event = fieldOf('event')
  if (event === undefined) return
  stream.events.push({ event, data: JSON.parse(fieldOf('data') ?? 'null'), atMs: Date.now() })
}
