import type { DiffLine, Hunk } from './parse-diff'

export const diffViews = ['unified', 'split'] as const
export type DiffView = (typeof diffViews)[number]

/**
 * A row of a displayed diff. An unchanged line is on both sides; in the split view, a removed and an added
 * line may share a row.
 */
export type DiffRow = { header: string } | { header?: undefined; old?: DiffLine; new?: DiffLine }

export function rowsOf(hunks: readonly Hunk[], view: DiffView): DiffRow[] {
  return hunks.flatMap(({ header, lines }) => [
    { header },
    ...(view === 'split' ? pairsOf(lines) : lines.map(rowOf)),
  ])
}

const rowOf = (line: DiffLine): DiffRow => ({
  ...(line.kind !== 'added' && { old: line }),
  ...(line.kind !== 'removed' && { new: line }),
})

function pairsOf(lines: readonly DiffLine[]): DiffRow[] {
  const rows: DiffRow[] = []
  let removed: DiffLine[] = []
  let added: DiffLine[] = []
  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1)
      rows.push({
        ...(removed[index] && { old: removed[index] }),
        ...(added[index] && { new: added[index] }),
      })
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === 'removed') {
      // Removed lines after added ones begin a new pair of blocks.
      if (added.length > 0) flush()
      removed.push(line)
    } else if (line.kind === 'added') added.push(line)
    else {
      flush()
      rows.push(rowOf(line))
    }
  }
  flush()
  return rows
}
