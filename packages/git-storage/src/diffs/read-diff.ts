import { zeroId } from '@switchyard/domain/access'
import { findObjects } from '../objects/object-reader.js'
import { comparedBytesMax, type GitResult } from '../processes/git-process.js'
import type { Repository } from '../repository.js'
import { type Comparison, compareCommits, Incomparable } from './compare-commits.js'
import { parseChanges } from './parse-changes.js'
import { type DiffEntry, leftOut, parseDiff } from './parse-diff.js'

/** Longest answer of git. Entries whose patch is cut off keep their paths. */
export const diffAnswerBytesMax = 32 * 1024 * 1024
const entryBytes = 400

export const diffLimits = {
  /** Longest patch of one file. */
  patchBytesMax: 1024 * 1024,
  /** Most bytes of all patches: an amount that is sent without blocking other requests for long. */
  diffBytesMax: 8 * 1024 * 1024,
}

/**
 * Returns the changes of a commit against its first parent, or against the empty tree for a root commit.
 *
 * @throws Incomparable when git cannot compare the commit
 */
export const readDiff = (repository: Repository, id: string): Promise<DiffEntry[]> =>
  cachedEntries(repository, `diff ${id}`, async () => {
    const { stdout, truncated } = await compare(repository, 'patch', id)
    return flagUncompared(repository, await parseDiff(afterId(stdout, id), truncated, diffLimits))
  })

/**
 * Returns the same changes with the numbers of lines instead of patches, so that the list is complete even
 * for a commit of many files.
 *
 * @throws Incomparable when git cannot compare the commit
 */
export const listChangesOf = (repository: Repository, id: string): Promise<DiffEntry[]> =>
  cachedEntries(repository, `changes ${id}`, async () => {
    const { stdout } = await compare(repository, 'changes', id)
    return parseChanges(afterId(stdout, id))
  })

/** Returns the answer of git after the id and the NUL at its beginning. */
const afterId = (bytes: Buffer, id: string) => bytes.subarray(id.length + 1)

/**
 * Returns cached entries of a comparison.
 *
 * @param key ids of the compared objects, and the kind of comparison
 */
export async function cachedEntries(
  { path, engine }: Repository,
  key: string,
  read: () => Promise<DiffEntry[]>,
): Promise<DiffEntry[]> {
  const known = engine.cache.get<DiffEntry[]>(path, key)
  if (known) return known
  const entries = await read()
  engine.cache.set(path, key, entries, sizeOf(entries))
  return entries
}

/**
 * Compares a commit with its first parent. git loads an added or removed file as a whole. When its memory
 * does not suffice, the diff has file names only.
 */
async function compare(repository: Repository, comparison: Comparison, id: string): Promise<GitResult> {
  try {
    return await compareCommits(repository, comparison, [id], diffAnswerBytesMax)
  } catch (error) {
    if (!(error instanceof Incomparable) || !error.isPermanent) throw error
    return { ...(await compareCommits(repository, 'names', [id], diffAnswerBytesMax)), truncated: true }
  }
}

/** Marks files as `tooLarge` that git reports as binary only because they exceed `comparedBytesMax`. */
export async function flagUncompared(repository: Repository, entries: DiffEntry[]): Promise<DiffEntry[]> {
  const ids = new Set(entries.flatMap(({ binaryIds }) => binaryIds ?? []).filter((id) => id !== zeroId))
  if (ids.size === 0) return entries
  const found = await findObjects(repository, [...ids])
  const isUncompared = ({ binaryIds }: DiffEntry) =>
    binaryIds?.some((id) => (found.get(id)?.size ?? 0) > comparedBytesMax)
  return entries.map((entry) => (isUncompared(entry) ? { ...entry, ...leftOut } : entry))
}

function sizeOf(entries: readonly DiffEntry[]): number {
  let bytes = 0
  for (const { patch, oldPath, newPath, header } of entries)
    bytes += entryBytes + 2 * (patch.length + oldPath.length + newPath.length + header.length)
  return bytes
}
