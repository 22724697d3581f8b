import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { nameOf } from '@switchyard/domain/commit'
import { type DiffEntry, fileOf, type LineCounts, parseRaw } from './parse-diff.js'

/** Most entries that are parsed at once, which takes some milliseconds. */
const sliceEntriesMax = 5_000
const notCounted: LineCounts = { additions: null, deletions: null }

/**
 * Parses the output of `diff-tree --raw --numstat -z`: a list of changes, then the line counts of each.
 * Yields to the event loop during a long output.
 *
 * @returns entries without patches; entries without line counts in the output have null for them
 */
export async function parseChanges(output: Buffer): Promise<DiffEntry[]> {
  const { changes, listEnd } = parseRaw(output)
  const counts = await parseNumstat(output.subarray(listEnd))
  const entries: DiffEntry[] = []
  for (const change of changes) {
    const { additions, deletions } = counts.get(change.newPath) ?? notCounted
    const file = fileOf(change)
    // A change of type is two entries, for which git counts lines once.
    const lines =
      change.isTypeChange && additions !== null && deletions !== null
        ? { additions: file.newFile ? additions : 0, deletions: file.deletedFile ? deletions : 0 }
        : { additions, deletions }
    entries.push({ ...file, header: '', patch: '', encoding: 'utf8', tooLarge: false, lines })
    if (entries.length % sliceEntriesMax === 0) await yieldToEventLoop()
  }
  return entries
}

/** Parses line counts, by the new path of a file. */
async function parseNumstat(output: Buffer): Promise<Map<string, LineCounts>> {
  const counts = new Map<string, LineCounts>()
  let at = 0
  const next = () => {
    const nul = output.indexOf(0, at)
    // An output that was cut off ends without a NUL; its last field is incomplete.
    if (nul < 0) return null
    const field = output.subarray(at, nul)
    at = nul + 1
    return field
  }
  for (let field = next(); field; field = next()) {
    const found = /^(\d+|-)\t(\d+|-)\t/.exec(field.toString('latin1'))
    if (!found) break
    const [start, additions = '', deletions = ''] = found
    // The old and the new path of a renamed file follow as separate fields.
    const renamed = field.length === start.length
    const path = renamed ? next() && next() : field.subarray(start.length)
    if (!path) break
    counts.set(nameOf(path), { additions: countOf(additions), deletions: countOf(deletions) })
    if (counts.size % sliceEntriesMax === 0) await yieldToEventLoop()
  }
  return counts
}

const countOf = (text: string) => (text === '-' ? null : Number(text))
