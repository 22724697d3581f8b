import type { ReactNode } from 'react'

const tones = {
  good: 'bg-good-soft text-good',
  bad: 'bg-bad-soft text-bad',
  warn: 'bg-warn-soft text-warn',
  busy: 'bg-busy-soft text-busy',
  plain: 'bg-raised text-ink',
}

export type Tone = keyof typeof tones

/** @param wraps for long texts: they continue on the next line */
export const Badge = ({
  tone = 'plain',
  wraps,
  children,
}: {
  tone?: Tone
  wraps?: boolean
  children: ReactNode
}) => (
  <span
    className={`inline-flex items-center rounded-full px-2 py-0.5 text-xs font-medium ${wraps ? '' : 'whitespace-nowrap'} ${tones[tone]}`}
  >
    {children}
  </span>
)

const toneByState: Record<string, Tone> = {
  success: 'good',
  Ended: 'good',
  succeeded: 'good',
  active: 'good',
  available: 'good',
  Executed: 'good',
  failed: 'bad',
  Error: 'bad',
  ExecuteAborted: 'bad',
  CompensateAborted: 'bad',
  inconsistent: 'bad',
  stuck: 'bad',
  blocked: 'bad',
  revoked: 'bad',
  running: 'busy',
  Started: 'busy',
  Executing: 'busy',
  Compensating: 'busy',
  finished: 'good',
  undone: 'warn',
  undoing: 'busy',
  pending: 'warn',
  Pending: 'plain',
  Overtime: 'warn',
  overdue: 'warn',
  parked: 'warn',
  late: 'warn',
  canceled: 'plain',
  blocked_until_fixed: 'warn',
  compensated: 'warn',
  Compensated: 'warn',
}

/** A badge with the state of a saga, activity, status or deployment. */
export const State = ({ of }: { of: string | null | undefined }) =>
  of ? <Badge tone={toneByState[of] ?? 'plain'}>{of}</Badge> : null
