import { isUtf8 } from 'node:buffer'
import { setImmediate as others } from 'node:timers/promises'
import { nameOf } from '@switchyard/domain/commit'

/** One changed file between two trees. */
export interface DiffEntry {
  /** Names that are not UTF-8 stand here as git quotes them. */
  oldPath: string
  newPath: string
  /** Octal; `0` on the side where the file is missing. */
  oldMode: string
  newMode: string
  newFile: boolean
  renamedFile: boolean
  deletedFile: boolean
  /** From the first `@@` on, or git's notice for a binary file; empty when only names or modes changed. */
  patch: string
  /** The lines `---` and `+++`; empty without a text patch. */
  header: string
  /** How bytes became characters; text that is not UTF-8 has one character for each byte, so nothing is lost. */
  encoding: TextEncoding
  /** The patch is over the limit and left out. */
  tooLarge: boolean
  /** Of a file that git took for binary: the ids of both sides, a zero id where there is none. */
  binaryIds?: [before: string, after: string]
}

export type TextEncoding = 'utf8' | 'latin1'

export interface DiffLimits {
  /** Bytes of one file's patch. */
  patchBytesMax: number
  /** Bytes of all patches together; the ones after that are left out. */
  diffBytesMax: number
}

interface RawChange {
  oldMode: string
  newMode: string
  ids: [before: string, after: string]
  status: string
  oldPath: string
  newPath: string
}

/**
 * Reads the output of `diff-tree --raw --patch -z`: the list of changes, then one patch each. Where the
 * output was cut off, the changes without a whole patch say so. Other requests get their turn within a long output.
 */
export async function parseDiff(
  output: Buffer,
  truncated: boolean,
  limits: DiffLimits,
): Promise<DiffEntry[]> {
  // To put a long output together took its time already.
  if (output.length > sliceBytesMax) await others()
  const { changes, patchStart } = parseRaw(output)
  const patches = splitPatches(output.subarray(patchStart), truncated)
  const entries: DiffEntry[] = []
  let bytesLeft = limits.diffBytesMax
  let sliceBytes = 0
  for (const change of changes) {
    const patch = patches.next().value
    const fits = patch !== undefined && patch.length <= Math.min(limits.patchBytesMax, bytesLeft)
    if (fits) bytesLeft -= patch.length
    entries.push({
      oldPath: change.oldPath,
      newPath: change.newPath,
      oldMode: shortMode(change.oldMode),
      newMode: shortMode(change.newMode),
      newFile: change.status === 'A',
      renamedFile: change.status === 'R',
      deletedFile: change.status === 'D',
      ...(fits ? { ...readPatch(patch, change), tooLarge: false } : leftOut),
    })
    sliceBytes += entryBytes + (fits ? patch.length : 0)
    if (sliceBytes < sliceBytesMax) continue
    sliceBytes = 0
    await others()
  }
  return entries
}

/** Work of some milliseconds. */
const sliceBytesMax = 1024 * 1024
const entryBytes = 1024

/** What stands in the place of a patch that is over a limit. */
export const leftOut = { header: '', patch: '', encoding: 'utf8', tooLarge: true } as const

const shortMode = (mode: string) => (mode === '000000' ? '0' : mode)

const rawChange = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*$/

function parseRaw(output: Buffer): { changes: RawChange[]; patchStart: number } {
  const changes: RawChange[] = []
  let at = 0
  const next = () => {
    const nul = output.indexOf(0, at)
    const end = nul < 0 ? output.length : nul
    const field = output.subarray(at, end)
    at = end + 1
    return field
  }
  while (output[at] === colon) {
    const found = rawChange.exec(next().toString('latin1'))
    if (!found) break
    const [, oldMode = '', newMode = '', before = '', after = '', status = ''] = found
    const oldPath = nameOf(next())
    const newPath = status === 'R' || status === 'C' ? nameOf(next()) : oldPath
    changes.push(...splitTypeChange({ oldMode, newMode, ids: [before, after], status, oldPath, newPath }))
  }
  // A lone NUL stands between the list and the patches.
  return { changes, patchStart: Math.min(at + 1, output.length) }
}

const colon = ':'.charCodeAt(0)

/** A file that becomes a link, say: git's patch removes one and adds the other, so there are two entries. */
function splitTypeChange(change: RawChange): RawChange[] {
  if (change.status !== 'T') return [change]
  return [
    { ...change, status: 'D', newMode: '000000', ids: [change.ids[0], zeroId] },
    { ...change, status: 'A', oldMode: '000000', ids: [zeroId, change.ids[1]] },
  ]
}

/** Stands where a file is missing. */
export const zeroId = '0'.repeat(40)

const patchStart = Buffer.from('\ndiff --git ')

/**
 * One patch after the other. No line of a patch itself starts like its first one: they all start with a mark.
 *
 * @param truncated the last patch is not whole, and left out
 */
function* splitPatches(text: Buffer, truncated: boolean): Generator<Buffer, undefined> {
  let start = 0
  while (start < text.length) {
    const next = text.indexOf(patchStart, start)
    if (next < 0 && truncated) return
    const end = next < 0 ? text.length : next + 1
    yield text.subarray(start, end)
    start = end
  }
}

type PatchFields = Pick<DiffEntry, 'header' | 'patch' | 'encoding' | 'binaryIds'>

function readPatch(patch: Buffer, { ids }: RawChange): PatchFields {
  const encoding = isUtf8(patch) ? 'utf8' : 'latin1'
  const hunk = patch.indexOf('\n@@ ')
  if (hunk >= 0) {
    const header = patch.subarray(0, hunk + 1)
    const from = header.indexOf('\n--- ')
    return {
      encoding,
      header: header.toString(encoding, from + 1),
      patch: patch.toString(encoding, hunk + 1),
    }
  }
  const notice = patch.indexOf('\nBinary files ')
  if (notice < 0) return { encoding, header: '', patch: '' }
  return { encoding, header: '', patch: patch.toString(encoding, notice + 1), binaryIds: ids }
}
