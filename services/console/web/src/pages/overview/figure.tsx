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

/** One number of the overview. It is muted while it is zero, and a dash while it is unknown. */
export const Figure = ({
  value,
  name,
  tone,
}: {
  value: number | null | undefined
  name: ReactNode
  tone: Tone
}) => (
  <div className="rounded-md border px-3 py-2">
    <div className={`text-2xl font-semibold tabular-nums ${value ? tones[tone] : 'text-quiet'}`}>
      {typeof value === 'number' ? count(value) : '–'}
    </div>
    <div className="text-sm">{name}</div>
  </div>
)

const columns = { 3: 'sm:grid-cols-3', 4: 'sm:grid-cols-4' }

/** Figures side by side; two in a row on narrow screens. */
export const Figures = ({ inRow = 4, children }: { inRow?: keyof typeof columns; children: ReactNode }) => (
  <div className={`mb-4 grid grid-cols-2 gap-2 last:mb-0 ${columns[inRow]}`}>{children}</div>
)
