import { isUtf8 } from 'node:buffer'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { zeroId } from '@switchyard/domain/access'
import { nameOf } from '@switchyard/domain/commit'
import { sliceBytesMax } from '../processes/line-slices.js'

/** One file that differs between two trees. */
export interface DiffEntry {
  /** Paths that are not UTF-8 are quoted as git quotes them. */
  oldPath: string
  newPath: string
  /** Octal; `0` on the side where the file is missing. */
  oldMode: string
  newMode: string
  newFile: boolean
  renamedFile: boolean
  deletedFile: boolean
  /**
   * The hunks from the first `@@` on, or git's notice for a binary file; empty when only the name or mode
   * changed.
   */
  patch: string
  /** The lines `---` and `+++`; empty without a text patch. */
  header: string
  /** `latin1`: the patch is not UTF-8, and each character of the texts is one byte of it. */
  encoding: TextEncoding
  /** Whether the patch exceeds a limit and is left out. */
  tooLarge: boolean
  /** Blob ids of a file that git treats as binary; a zero id on the side where the file is missing. */
  binaryIds?: [before: string, after: string]
  /** Set only in a list of changes without patches. */
  lines?: LineCounts
}

/** Lines that a change adds and removes; null for a binary file and for a file that was not compared. */
export interface LineCounts {
  additions: number | null
  deletions: number | null
}

export type TextEncoding = 'utf8' | 'latin1'

export interface DiffLimits {
  /** Longest patch of one file, in bytes. */
  patchBytesMax: number
  /** Most bytes of all patches together; later patches are left out. */
  diffBytesMax: number
}

export interface RawChange {
  oldMode: string
  newMode: string
  ids: [before: string, after: string]
  status: string
  oldPath: string
  newPath: string
  /** Set for each of the two changes that a change of type is split into. */
  isTypeChange?: true
}

/**
 * Parses the output of `diff-tree --raw --patch -z`: a list of changes, then a patch for each. Yields to the
 * event loop during a long output.
 *
 * @param truncated the output was cut off: changes without a complete patch are marked `tooLarge`
 */
export async function parseDiff(
  output: Buffer,
  truncated: boolean,
  limits: DiffLimits,
): Promise<DiffEntry[]> {
  // Concatenating a long output has taken some milliseconds before this call.
  if (output.length > sliceBytesMax) await yieldToEventLoop()
  const { changes, listEnd } = parseRaw(output)
  // A single NUL separates the list from the patches.
  const patches = splitPatches(output.subarray(listEnd + 1), truncated)
  const entries: DiffEntry[] = []
  let bytesLeft = limits.diffBytesMax
  let sliceBytes = 0
  for (const change of changes) {
    const patch = patches.next().value
    const fits = patch !== undefined && patch.length <= Math.min(limits.patchBytesMax, bytesLeft)
    if (fits) bytesLeft -= patch.length
    const text = fits ? { ...readPatch(patch, change), tooLarge: false } : leftOut
    entries.push({ ...fileOf(change), ...text })
    sliceBytes += entryBytes + (fits ? patch.length : 0)
    if (sliceBytes < sliceBytesMax) continue
    sliceBytes = 0
    await yieldToEventLoop()
  }
  return entries
}

/** Returns the fields of an entry that name the changed file and the kind of change. */
export const fileOf = ({ oldPath, newPath, oldMode, newMode, status }: RawChange) => ({
  oldPath,
  newPath,
  oldMode: shortMode(oldMode),
  newMode: shortMode(newMode),
  newFile: status === 'A',
  renamedFile: status === 'R',
  deletedFile: status === 'D',
})

const entryBytes = 1024

/** The fields of an entry whose patch exceeds a limit. */
export const leftOut = { header: '', patch: '', encoding: 'utf8', tooLarge: true } as const

const shortMode = (mode: string) => (mode === '000000' ? '0' : mode)

const rawChange = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*$/

/**
 * Parses the list at the start of the output of `diff-tree --raw -z`.
 *
 * @returns the changes, and the offset of the first byte after the list
 */
export function parseRaw(output: Buffer): { changes: RawChange[]; listEnd: number } {
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
  return { changes, listEnd: Math.min(at, output.length) }
}

const colon = ':'.charCodeAt(0)

/**
 * Splits a change of type, such as a file that becomes a link, into two changes, because git prints two
 * patches for it.
 */
function splitTypeChange(change: RawChange): RawChange[] {
  if (change.status !== 'T') return [change]
  return [
    { ...change, status: 'D', newMode: '000000', ids: [change.ids[0], zeroId], isTypeChange: true },
    { ...change, status: 'A', oldMode: '000000', ids: [zeroId, change.ids[1]], isTypeChange: true },
  ]
}

const patchStart = Buffer.from('\ndiff --git ')

/**
 * Splits a text into its patches. Every line inside a hunk starts with a mark, so `diff --git` at the start
 * of a line begins a patch.
 *
 * @param truncated the last patch is incomplete and left out
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
