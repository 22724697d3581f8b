import { patchChild } from './children/child-kinds.js'
import type { OpenRepository } from './open-repository.js'
import { type DiffEntry, parseDiff } from './parse-diff.js'

/** Of the whole answer of git; entries beyond it stay, without their text. */
const answerBytesMax = 32 * 1024 * 1024
const timeoutMs = 60_000
const entryBytes = 400

const limits = {
  /** Of one file. */
  patchBytesMax: 1024 * 1024,
  /** Of all files: what can be sent without keeping others waiting. */
  diffBytesMax: 8 * 1024 * 1024,
}

/** What a commit changed against its first parent, or against nothing when it is a root. */
export async function readDiff({ path, engine, signal }: OpenRepository, id: string): Promise<DiffEntry[]> {
  const key = `diff ${id}`
  const known = engine.cache.get<DiffEntry[]>(path, key)
  if (known) return known
  const question = { input: `${id}\n`, answerBytesMax, timeoutMs }
  const { bytes, truncated } = await engine.children.ask(path, patchChild, question, signal)
  // The answer begins with the id and a NUL.
  const entries = await parseDiff(bytes.subarray(id.length + 1), truncated, limits)
  engine.cache.set(path, key, entries, sizeOf(entries))
  return entries
}

function sizeOf(entries: readonly DiffEntry[]): number {
  let bytes = 0
  for (const { patch, oldPath, newPath, header } of entries)
    bytes += entryBytes + 2 * (patch.length + oldPath.length + newPath.length + header.length)
  return bytes
}
