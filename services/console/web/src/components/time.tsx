import { useEffect, useState } from 'react'
import { exactTime, sinceNow } from '../lib/format'
import { serverNow } from '../lib/server-clock'

/** The current time by the clock of the server, updated every `periodMs`. */
export function useNow(periodMs = 15_000): number {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), periodMs)
    return () => clearInterval(timer)
  }, [periodMs])
  return now
}

/** A time as a distance from now, with the exact one in the viewer's zone on hover. */
export function Time({ at, absolute }: { at: string | null | undefined; absolute?: boolean }) {
  // Shown anew with each step of the clock. What was read since the last step is not in the future.
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
