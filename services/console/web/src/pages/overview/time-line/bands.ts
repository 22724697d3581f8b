import { plainText } from '../../../components/message-text'
import type { Banner, BroadcastMessage, Freeze } from '../../../generated/types.gen'
import { exactTime } from '../../../lib/format'
import type { Span } from './time-line-model'

/** A time in which projects are frozen, or in which a message is shown. */
export interface Band {
  key: string
  kind: 'freeze' | 'broadcast'
  text: string
  /** With its times. */
  label: string
  from: number
  to: number
  /** The path of a frozen project, or the id of a message. */
  of: string
}

const timesOf = (from: number, to: number) =>
  `from ${exactTime(new Date(from))} to ${exactTime(new Date(to))}`

/** Projects that are frozen at the same time share a band, which leads to the first one. */
function freezeBands(freezes: readonly Freeze[]): Band[] {
  const paths = new Map<string, Freeze[]>()
  for (const freeze of freezes) {
    const key = `freeze ${freeze.starts_at} ${freeze.ends_at}`
    paths.set(key, [...(paths.get(key) ?? []), freeze])
  }
  return [...paths].map(([key, same]) => {
    const names = [...new Set(same.map(({ project }) => project.path_with_namespace))]
    const [first = ''] = names
    const text = `Frozen: ${first}${names.length > 1 ? ` and ${names.length - 1} more` : ''}`
    const [from, to] = [Date.parse(same[0]?.starts_at ?? ''), Date.parse(same[0]?.ends_at ?? '')]
    return { key, kind: 'freeze' as const, text, label: `${text}, ${timesOf(from, to)}`, from, to, of: first }
  })
}

function broadcastBand({ id, message, starts_at, ends_at }: Banner | BroadcastMessage): Band {
  const text = `Broadcast: ${plainText(message)}`
  const [from, to] = [Date.parse(starts_at), Date.parse(ends_at)]
  const label = `${text}, ${timesOf(from, to)}`
  return { key: `broadcast ${id}`, kind: 'broadcast', text, label, from, to, of: String(id) }
}

/** What reaches into the span, the first one first. */
export const bandsOf = (
  span: Span,
  freezes: readonly Freeze[],
  broadcasts: readonly (Banner | BroadcastMessage)[],
): Band[] =>
  [...freezeBands(freezes), ...broadcasts.map(broadcastBand)]
    .filter(({ from, to }) => from < span.to && to >= span.from)
    .sort((a, b) => a.from - b.from || a.to - b.to)
