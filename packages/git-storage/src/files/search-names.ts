import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { compileWildcard } from '@switchyard/domain'
import { nameOf } from '@switchyard/domain/commit'
import { runGitOk } from '../processes/git-process.js'
import type { Repository } from '../repository.js'
import { findBlob, readStart } from './blobs.js'

/** A condition on the path of a file, in upper or lower case. */
export interface PathFilter {
  /** Pattern of the whole path; `*` stands for any characters, including slashes. */
  pattern: string
  /** Whether files that match are excluded. */
  isNegated: boolean
}

/** A file that was found by its path. */
export interface FoundName {
  path: string
  blobId: string
}

const listBytesMax = 16 * 1024 * 1024
/** Bytes of names that are searched at once, which takes some milliseconds. */
const sliceBytes = 128 * 1024
const submodule = '160000'

/** Returns a function that tells whether a path meets all filters. */
export function compileFilters(filters: readonly PathFilter[]): (path: string) => boolean {
  const conditions = filters.map(({ pattern, isNegated }) => {
    const isLike = compileWildcard(pattern.toLowerCase())
    return (path: string) => isLike(path) !== isNegated
  })
  return (path) => {
    const lower = path.toLowerCase()
    return conditions.every((holds) => holds(lower))
  }
}

interface FoundNames {
  /** Files that meet the filters. */
  names: FoundName[]
  /** Those of `names` whose path contains the text, in upper or lower case. */
  named: FoundName[]
  isWhole: boolean
}

/**
 * Finds the files of a commit that meet the filters, by their paths. Only the first 16 MB of names are
 * searched. Yields to the event loop during a long list.
 */
export async function searchNames(
  repository: Repository,
  commitId: string,
  isWanted: (path: string) => boolean,
  text: string,
): Promise<FoundNames> {
  const command = { command: 'ls-tree', flags: ['-r', '-z', '--full-tree'], revisions: [commitId] }
  const { stdout, truncated } = await runGitOk(repository, command, { stdoutBytesMax: listBytesMax })
  const lower = text.toLowerCase()
  const names: FoundName[] = []
  const named: FoundName[] = []
  let sliceEnd = sliceBytes
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(0, at)
    if (end === -1) break
    const tab = stdout.indexOf('\t', at)
    const [mode, , blobId = ''] = stdout.toString('latin1', at, tab).split(' ')
    const path = nameOf(stdout.subarray(tab + 1, end))
    if (mode !== submodule && isWanted(path)) {
      const found = { path, blobId }
      names.push(found)
      if (path.toLowerCase().includes(lower)) named.push(found)
    }
    at = end + 1
    if (at < sliceEnd) continue
    sliceEnd = at + sliceBytes
    await yieldToEventLoop()
  }
  return { names, named, isWhole: !truncated }
}

/** Reads the first bytes of a found file; empty when the file no longer exists. */
export async function readStartOf(
  repository: Repository,
  { blobId }: FoundName,
  bytesMax: number,
): Promise<Buffer> {
  const blob = await findBlob(repository, blobId)
  return blob ? readStart(repository, blob, bytesMax) : Buffer.alloc(0)
}
