import { splitLines } from '../../../lib/format'

export interface DiffLine {
  kind: 'context' | 'added' | 'removed'
  text: string
  /** Counted from 1; unset on the side without such a line. */
  oldLine?: number
  newLine?: number
  /** Whether the file ends here without a line break. */
  isWithoutBreak?: boolean
}

export interface Hunk {
  /** `@@ -1,4 +1,6 @@ function name()` */
  header: string
  lines: DiffLine[]
}

const headerPattern = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** Parses the text of a diff, as git writes it without the lines `---` and `+++`. */
export function parseDiff(text: string): Hunk[] {
  const hunks: Hunk[] = []
  let oldLine = 0
  let newLine = 0
  for (const line of splitLines(text)) {
    const header = headerPattern.exec(line)
    if (header) {
      oldLine = Number(header[1])
      newLine = Number(header[2])
      hunks.push({ header: line, lines: [] })
      continue
    }
    const lines = hunks.at(-1)?.lines
    if (!lines) continue
    const rest = line.slice(1)
    if (line.startsWith('+')) {
      lines.push({ kind: 'added', text: rest, newLine })
      newLine += 1
    } else if (line.startsWith('-')) {
      lines.push({ kind: 'removed', text: rest, oldLine })
      oldLine += 1
    } else if (line.startsWith(' ')) {
      lines.push({ kind: 'context', text: rest, oldLine, newLine })
      oldLine += 1
      newLine += 1
    } else {
      const last = lines.at(-1)
      if (last) last.isWithoutBreak = true
    }
  }
  return hunks
}

/** Counts added and removed lines. */
export function countLines(hunks: readonly Hunk[]): { additions: number; deletions: number } {
  const lines = hunks.flatMap(({ lines }) => lines)
  return {
    additions: lines.filter(({ kind }) => kind === 'added').length,
    deletions: lines.filter(({ kind }) => kind === 'removed').length,
  }
}
