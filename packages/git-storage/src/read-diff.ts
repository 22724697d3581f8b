import { namesChild, patchChild } from './children/child-kinds.js'
import type { Answer } from './children/git-child.js'
import { compareCommits, Incomparable } from './compare-commits.js'
import { comparedBytesMax } from './git-process.js'
import { sizesByGit } from './object-reader.js'
import type { OpenRepository } from './open-repository.js'
import { type DiffEntry, leftOut, parseDiff, zeroId } from './parse-diff.js'

/** Of the whole answer of git; entries beyond it stay, without their text. */
export const diffAnswerBytesMax = 32 * 1024 * 1024
const entryBytes = 400

export const diffLimits = {
  /** Of one file. */
  patchBytesMax: 1024 * 1024,
  /** Of all files: what can be sent without keeping others waiting. */
  diffBytesMax: 8 * 1024 * 1024,
}

/**
 * What a commit changed against its first parent, or against nothing when it is a root.
 *
 * @throws Incomparable when git cannot say
 */
export async function readDiff(repository: OpenRepository, id: string): Promise<DiffEntry[]> {
  const { path, engine } = repository
  const key = `diff ${id}`
  const known = engine.cache.get<DiffEntry[]>(path, key)
  if (known) return known
  const { bytes, truncated } = await compare(repository, id)
  // The answer begins with the id and a NUL.
  const parsed = await parseDiff(bytes.subarray(id.length + 1), truncated, diffLimits)
  const entries = await flagUncompared(repository, parsed)
  engine.cache.set(path, key, entries, sizeOf(entries))
  return entries
}

/** A file that is new or gone is read whole, whatever its size; where memory does not do, its commit has names only. */
async function compare(repository: OpenRepository, id: string): Promise<Answer> {
  try {
    return await compareCommits(repository, patchChild, [id], diffAnswerBytesMax)
  } catch (error) {
    if (!(error instanceof Incomparable) || !error.forGood) throw error
    return { ...(await compareCommits(repository, namesChild, [id], diffAnswerBytesMax)), truncated: true }
  }
}

/** git calls every file binary that it does not read for its size; that is a limit, and is said so. */
export async function flagUncompared(repository: OpenRepository, entries: DiffEntry[]): Promise<DiffEntry[]> {
  const ids = new Set(entries.flatMap(({ binaryIds }) => binaryIds ?? []).filter((id) => id !== zeroId))
  if (ids.size === 0) return entries
  const sizes = await sizesByGit(repository, [...ids])
  const isUncompared = ({ binaryIds }: DiffEntry) =>
    binaryIds?.some((id) => (sizes.get(id) ?? 0) > comparedBytesMax)
  return entries.map((entry) => (isUncompared(entry) ? { ...entry, ...leftOut } : entry))
}

function sizeOf(entries: readonly DiffEntry[]): number {
  let bytes = 0
  for (const { patch, oldPath, newPath, header } of entries)
    bytes += entryBytes + 2 * (patch.length + oldPath.length + newPath.length + header.length)
  return bytes
}
