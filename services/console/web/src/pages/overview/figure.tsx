import type { ReactNode } from 'react'
import type { Tone } from '../../components/badge'
import { count } from '../../lib/format'

const tones: Record<Tone, string> = {
  good: 'text-good',
  bad: 'text-bad',
  warn: 'text-warn',
  busy: 'text-busy',
  plain: '',
}

/** One number of the overview. It is quiet while it is zero. */
export const Figure = ({ value, name, tone }: { value: number; name: ReactNode; tone: Tone }) => (
  <div className="min-w-26 flex-1 rounded-md border px-3 py-2">
    <div className={`text-2xl font-semibold tabular-nums ${value > 0 ? tones[tone] : 'text-quiet'}`}>
      {count(value)}
    </div>
    <div className="text-sm">{name}</div>
  </div>
)
