import { plainText } from '../../../components/message-text'
import type { Banner, BroadcastMessage, Freeze } from '../../../generated/types.gen'
import { exactTime, firstLine } from '../../../lib/format'
import type { Span } from './time-line-model'

/** A time during which projects are frozen, or a message is shown. */
export interface Band {
  key: string
  kind: 'freeze' | 'broadcast'
  text: string
  /** The label, which includes the times. */
  label: string
  from: number
  /** Infinity: there is no end yet. */
  to: number
  /** The path of a frozen project, or the id of a message. */
  of: string
}

const timesOf = (from: number, to: number) =>
  Number.isFinite(to)
    ? `from ${exactTime(new Date(from))} to ${exactTime(new Date(to))}`
    : `since ${exactTime(new Date(from))}`

const pathOf = ({ project, impact_rule_run: run }: Freeze) =>
  run ? `${run.environment} of ${project.path_with_namespace}` : project.path_with_namespace

/**
 * Returns bands for freezes. Projects that are frozen at the same time share a band, which leads to the first
 * one.
 */
function freezeBands(freezes: readonly Freeze[]): Band[] {
  const paths = new Map<string, Freeze[]>()
  for (const freeze of freezes) {
    const key = `freeze ${freeze.starts_at} ${freeze.ends_at}`
    paths.set(key, [...(paths.get(key) ?? []), freeze])
  }
  return [...paths].map(([key, same]) => {
    const names = [...new Set(same.map(pathOf))]
    const text = `Frozen: ${names[0]}${names.length > 1 ? ` and ${names.length - 1} more` : ''}`
    const { project, starts_at, ends_at } = same[0] as Freeze
    const [from, to] = [
      Date.parse(starts_at),
      ends_at === null ? Number.POSITIVE_INFINITY : Date.parse(ends_at),
    ]
    const label = `${text}, ${timesOf(from, to)}`
    return { key, kind: 'freeze' as const, text, label, from, to, of: project.path_with_namespace }
  })
}

const textCharsMax = 120

function broadcastBand({ id, message, starts_at, ends_at }: Banner | BroadcastMessage): Band {
  const text = `Broadcast: ${firstLine(plainText(message), textCharsMax)}`
  const [from, to] = [Date.parse(starts_at), Date.parse(ends_at)]
  const label = `${text}, ${timesOf(from, to)}`
  return { key: `broadcast ${id}`, kind: 'broadcast', text, label, from, to, of: String(id) }
}

/** Returns the bands that overlap the span, earliest first. */
export const bandsOf = (
  span: Span,
  freezes: readonly Freeze[],
  broadcasts: readonly (Banner | BroadcastMessage)[],
): Band[] =>
  [...freezeBands(freezes), ...broadcasts.map(broadcastBand)]
    .filter(({ from, to }) => from < span.to && to >= span.from)
    .sort((a, b) => a.from - b.from || a.to - b.to)
