import { useEffect, useEffectEvent, useState } from 'react'
import { addressOf, type Query } from '../api/client'

/** `off`: not enabled. `ended`: the server refuses the stream to this session. */
export type StreamState = 'off' | 'connecting' | 'live' | 'reconnecting' | 'ended'

export interface StreamOptions<Event> {
  /** Path below `/api/v4`. */
  path: string
  query?: Query | undefined
  /** The name of the events; unset: events without a name. */
  event?: string
  /** The parameter with the last seen event, for streams that can resume. */
  resumeBy?: string
  /** False closes the stream; true resumes it. Unset: true. */
  enabled?: boolean
  /** Events are delivered together, at most once in this time. */
  batchMs?: number
  onEvents: (events: Event[]) => void
  /** Called when events may have been missed, so that all data must be read again. */
  onGap?: () => void
}

const retry = { firstMs: 1000, mostMs: 30_000 }
/**
 * Every stream sends a `ping` after 15 seconds without events. A stream that is silent for longer has lost
 * its connection.
 */
const silenceMs = 30_000
/** More events than this in one batch count as a gap, so that a fast stream does not fill the memory. */
const batchMax = 2000

/**
 * Follows a stream of server-sent events while the document is visible. A hidden document closes its stream,
 * because browsers allow few connections to one host, and resumes it when it is visible again.
 */
export function useEventStream<Event>(options: StreamOptions<Event>): StreamState {
  const { path, query, event, resumeBy, enabled = true, batchMs = 500 } = options
  const [state, setState] = useState<StreamState>('off')
  const isShown = useIsShown()
  const address = addressOf(path, query)
  const [position, setPosition] = useState<{ address: string; last?: string }>({ address })
  const onEvents = useEffectEvent((texts: string[]) =>
    options.onEvents(texts.map((text) => JSON.parse(text) as Event)),
  )
  const onGap = useEffectEvent(() => options.onGap?.())
  const startAt = useEffectEvent(() => (position.address === address ? position.last : undefined))

  useEffect(() => {
    if (!enabled) setState('off')
    if (!enabled || !isShown) return
    return followStream(
      { address, event, resumeBy, batchMs, last: startAt() },
      {
        onState: setState,
        onEvents,
        onGap,
        onClose: (last) => setPosition(last === undefined ? { address } : { address, last }),
      },
    )
  }, [address, event, resumeBy, enabled, isShown, batchMs])
  return state
}

/** Returns whether the document is visible, and not in a background tab. */
export function useIsShown(): boolean {
  const [isShown, setIsShown] = useState(() => document.visibilityState === 'visible')
  useEffect(() => {
    const onChange = () => setIsShown(document.visibilityState === 'visible')
    document.addEventListener('visibilitychange', onChange)
    return () => document.removeEventListener('visibilitychange', onChange)
  }, [])
  return isShown
}

interface Stream {
  address: string
  event: string | undefined
  resumeBy: string | undefined
  batchMs: number
  /** Position after which the stream begins; unset: new events only. */
  last: string | undefined
}

interface Listeners {
  onState: (state: StreamState) => void
  onEvents: (texts: string[]) => void
  onGap: () => void
  onClose: (last: string | undefined) => void
}

/** Connects, and reconnects after each loss. Returns a function that closes the stream. */
function followStream(stream: Stream, { onState, onEvents, onGap, onClose }: Listeners): () => void {
  let { last } = stream
  let source: EventSource | undefined
  let waitMs = retry.firstMs
  let timer: ReturnType<typeof setTimeout> | undefined
  let silence: ReturnType<typeof setTimeout> | undefined
  const batch = startBatch(stream.batchMs, onEvents, onGap)

  const isHeard = () => {
    clearTimeout(silence)
    silence = setTimeout(connectAnew, silenceMs)
  }
  const connectAnew = () => {
    onState('reconnecting')
    source?.close()
    connect()
  }
  const hear = ({ lastEventId }: MessageEvent<string>) => {
    isHeard()
    if (lastEventId) last = lastEventId
  }
  const take = (event: MessageEvent<string>) => {
    hear(event)
    batch.add(event.data)
  }
  const connect = () => {
    isHeard()
    source = new EventSource(resumedAddress(stream, last))
    source.addEventListener('open', () => {
      isHeard()
      waitMs = retry.firstMs
      onState('live')
      if (last === undefined) onGap()
    })
    source.addEventListener(stream.event ?? 'message', take)
    for (const name of ['ping', 'unavailable']) source.addEventListener(name, hear)
    source.addEventListener('reset', (event) => {
      hear(event)
      onGap()
    })
    source.addEventListener('close', ({ data }) => {
      if (!/\b40[13]\b/.test(String(data))) return
      clearTimeout(silence)
      source?.close()
      onState('ended')
    })
    source.addEventListener('error', onError)
  }
  // The browser reconnects after a lost connection, but not after an answer that is not a stream, such as
  // 503.
  const onError = () => {
    onState('reconnecting')
    if (source?.readyState !== EventSource.CLOSED) return
    clearTimeout(silence)
    timer = setTimeout(connect, waitMs * (0.75 + Math.random() / 2))
    waitMs = Math.min(waitMs * 2, retry.mostMs)
  }
  onState('connecting')
  connect()
  return () => {
    clearTimeout(timer)
    clearTimeout(silence)
    source?.close()
    batch.stop()
    onClose(last)
  }
}

function resumedAddress({ address, resumeBy }: Stream, last: string | undefined): string {
  if (!resumeBy || last === undefined) return address
  return `${address}${address.includes('?') ? '&' : '?'}${resumeBy}=${encodeURIComponent(last)}`
}

/** Delivers the first event at once, and the events of the following period together at its end. */
function startBatch(batchMs: number, onEvents: (texts: string[]) => void, onGap: () => void) {
  let waiting: string[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    if (waiting.length === 0) return
    const texts = waiting
    waiting = []
    timer = setTimeout(flush, batchMs)
    if (texts.length > batchMax) onGap()
    else onEvents(texts)
  }
  return {
    add(text: string) {
      if (waiting.length <= batchMax) waiting.push(text)
      if (timer === undefined) flush()
    },
    stop() {
      clearTimeout(timer)
      if (waiting.length > 0) onEvents(waiting)
    },
  }
}
