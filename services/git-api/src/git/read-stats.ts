import type { CommitStats } from '@switchyard/domain/commit'
import { numstatChild } from './children/child-kinds.js'
import type { OpenRepository } from './open-repository.js'

const answerBytesMax = 64 * 1024 * 1024
const timeoutMs = 60_000
const statsBytes = 50

/** Lines added and removed against the first parent, by commit id. */
export async function readStats(
  repository: OpenRepository,
  ids: readonly string[],
): Promise<Map<string, CommitStats>> {
  const { path, engine } = repository
  const stats = new Map<string, CommitStats>()
  const unknown: string[] = []
  for (const id of ids) {
    const known = engine.cache.get<CommitStats>(path, `stats ${id}`)
    if (known) stats.set(id, known)
    else unknown.push(id)
  }
  if (unknown.length === 0) return stats
  const question = { input: unknown.map((id) => `${id}\n`).join(''), answerBytesMax, timeoutMs }
  const { bytes, truncated } = await engine.children.ask(path, numstatChild, question, repository.signal)
  if (truncated) throw new Error(`stats of ${unknown.length} commits are over ${answerBytesMax} bytes`)
  for (const [id, counted] of parseNumstat(bytes.toString('latin1'))) {
    engine.cache.set(path, `stats ${id}`, counted, statsBytes)
    stats.set(id, counted)
  }
  return stats
}

/** Reads the id of each commit and, after it, a line for each file; binary files have no numbers. */
function parseNumstat(text: string): Map<string, CommitStats> {
  const stats = new Map<string, CommitStats>()
  let current: CommitStats = { additions: 0, deletions: 0 }
  for (const line of text.split('\n')) {
    const [added, removed] = line.split('\t', 2)
    if (removed === undefined) {
      if (line === '') continue
      current = { additions: 0, deletions: 0 }
      stats.set(line, current)
    } else {
      current.additions += Number(added) || 0
      current.deletions += Number(removed) || 0
    }
  }
  return stats
}
