import { waitFor } from '@switchyard/testing'

export interface ServerEvent {
  event: string
  id: string | undefined
  data: unknown
}

/** A client of a stream of server-sent events, which takes only the position of a `ping`. */
export async function openStream(url: string, headers: Record<string, string> = {}) {
  const leaving = new AbortController()
  const response = await fetch(url, { headers, signal: leaving.signal })
  const events: ServerEvent[] = []
  let lastEventId: string | undefined
  let text = ''
  let ended = false
  const read = async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const fields = fieldsOf(block)
        lastEventId = fields.id ?? lastEventId
        if (fields.data === undefined || fields.event === 'ping') continue
        events.push({ event: fields.event ?? 'message', id: fields.id, data: JSON.parse(fields.data) })
      }
    }
  }
  const reading = response.ok ? read() : Promise.resolve()
  const done = reading
    .catch(() => {})
    .finally(() => {
      ended = true
    })
  return {
    response,
    events,
    /** Sequences of the events that came, in the order in which they came. */
    sequences: () => events.filter(({ event }) => event === 'message').map(({ id }) => Number(id)),
    lastEventId: () => lastEventId,
    hasEnded: () => ended,
    waitForEvents: (count: number) =>
      waitFor(() => events.length >= count, { what: `${count} events; there are ${events.length}` }),
    async close() {
      leaving.abort()
      await done
    },
  }
}

function fieldsOf(block: string): Partial<Record<string, string>> {
  const lines = block.split('\n').filter((line) => !line.startsWith(':') && line.includes(': '))
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  )
}
