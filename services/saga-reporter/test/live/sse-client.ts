import { eventsOf, waitFor } from '@switchyard/testing'

export interface ServerEvent {
  event: string
  id: string | undefined
  data: unknown
}

/** Opens a client of server-sent events, which uses only the position of a `ping`. */
export async function openStream(url: string, headers: Record<string, string> = {}) {
  const leaving = new AbortController()
  const response = await fetch(url, { headers, signal: leaving.signal })
  const events: ServerEvent[] = []
  let lastEventId: string | undefined
  let ended = false
  const read = async () => {
    for await (const { id, event = 'message', data } of eventsOf(response)) {
      lastEventId = id ?? lastEventId
      if (event !== 'ping') events.push({ event, id, data: JSON.parse(data) })
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
    /** Returns the sequences of the received events, in the order of their arrival. */
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
