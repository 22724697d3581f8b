import { useEffect, useState } from 'react'
import { exactTime, sinceNow } from '../lib/format'
import { serverNow } from '../lib/server-clock'

/** Returns the server's current time, updated every `periodMs`. */
export function useNow(periodMs = 15_000): number {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), periodMs)
    return () => clearInterval(timer)
  }, [periodMs])
  return now
}

/** A time relative to now, with the exact time in the viewer's zone on hover. */
export function Time({ at, absolute }: { at: string | null | undefined; absolute?: boolean }) {
  // Renders again with each step of the clock. Data that was read since the last step is not in the future.
  useNow()
  if (!at) return <span className="text-quiet">–</span>
  const time = new Date(at)
  const exact = exactTime(time)
  return (
    <time dateTime={at} title={exact} className="whitespace-nowrap tabular-nums">
      {absolute ? exact : sinceNow(time, serverNow())}
    </time>
  )
}
