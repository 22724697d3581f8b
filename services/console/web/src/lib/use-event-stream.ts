import { useEffect, useEffectEvent, useState } from 'react'
import { addressOf, type Query } from '../api/client'

/** `off`: not enabled. `ended`: the server refuses the stream to this session. */
export type StreamState = 'off' | 'connecting' | 'live' | 'reconnecting' | 'ended'

export interface StreamOptions<Event> {
  /** Below `/api/v4`. */
  path: string
  query?: Query | undefined
  /** The name of the events; unset: events without a name. */
  event?: string
  /** The parameter of the path that names the last event seen, for streams that can resume. */
  resumeBy?: string
  /** False closes the stream; true resumes it. Unset: true. */
  enabled?: boolean
  /** Events are given together, at most once in this time. */
  batchMs?: number
  onEvents: (events: Event[]) => void
  /** Called when events may have been missed, so that everything must be read again. */
  onGap?: () => void
}

const retry = { firstMs: 1000, mostMs: 30_000 }
/**
 * Every stream has a `ping` when nothing happened for 15 seconds. One that is silent for longer has lost its
 * other end.
 */
const silenceMs = 30_000
/** More events than this within one batch are a gap, so that a fast stream fills no memory. */
const batchMax = 2000

/**
 * Follows a stream of server-sent events while the document is shown. A hidden document closes its stream,
 * because browsers allow few connections to one host, and resumes it when it is shown again.
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

/** Whether the document is seen: not in a background tab. */
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
  /** Position after which to begin; unset: new events only. */
  last: string | undefined
}

interface Listeners {
  onState: (state: StreamState) => void
  onEvents: (texts: string[]) => void
  onGap: () => void
  onClose: (last: string | undefined) => void
}

/** Connects, and connects again after each loss. Returns what closes the stream. */
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
  // The browser reconnects after a lost connection, but not after an answer that is no stream, such as 503.
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

/** The first event is given at once, the events of the time after it together at the end of that time. */
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
