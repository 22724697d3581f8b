import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import {
  entryAt,
  formatTreeObject,
  refuseAction,
  type TreeEdit,
  type TreeFile,
  type TreeFolder,
} from '@switchyard/domain/commit'
import { gitFailure, runGit } from '../git-process.js'
import type { OpenRepository } from '../open-repository.js'
import { type NewObject, newObject } from './new-object.js'
import { entryHeader, packHeader } from './pack-file.js'

const compress = promisify(deflate)

/**
 * Has git check files such as `.gitmodules` as it checks those of a push: a submodule may not have an address that
 * a clone would read as an option, say. Nothing of what is refused is stored.
 *
 * @throws DomainError invalid, with `action_index` and `file_path`, for one that git refuses
 */
export async function checkSettingsFiles(
  { path, signal }: OpenRepository,
  root: TreeFolder,
  edits: readonly TreeEdit[],
): Promise<void> {
  for (const [index, edit] of edits.entries()) {
    const name = edit.path.at(-1) ?? ''
    const file = mayBeSettings(name) ? entryAt(root, edit.path) : null
    if (file?.kind !== 'file') continue
    const reason = await unpackAside(path, await packOf(name, file), signal)
    if (reason !== null) throw refuseAction(index, edit.filePath, `git refuses this file: ${reason}`)
  }
}

/**
 * Unpacks objects with all of git's checks, in a folder that is gone afterwards; git clears such a folder away, by
 * its name, when this process ends too early.
 *
 * @returns why git refuses them; null when it does not
 */
async function unpackAside(
  path: string,
  pack: Buffer,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const stored = join(path, 'objects')
  const aside = await mkdtemp(join(stored, 'tmp_objdir-checked-'))
  try {
    const variables = { GIT_OBJECT_DIRECTORY: aside, GIT_ALTERNATE_OBJECT_DIRECTORIES: stored }
    const command = { command: 'unpack-objects', flags: ['-q', '--strict'] }
    const result = await runGit(path, command, { signal, stdin: pack, variables })
    if (result.code === 0) return null
    const [, reason] = /^error: object \w+: \w+: (.+)$/m.exec(result.stderr) ?? []
    if (reason === undefined) throw gitFailure(command, result)
    return reason
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

/** Whether a file system may take a name for one of them, disguised or shortened; git itself knows exactly. */
function mayBeSettings(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not ASCII may be ignored.
  return /^(?:\.?git|gi?.{0,5}~|~\d)/i.test(name.replace(/[^\x00-\x7f]/g, ''))
}

/** A pack with the file, unless it is stored already, and a folder that has nothing else in it. */
async function packOf(name: string, { mode, blob }: TreeFile): Promise<Buffer> {
  const content = typeof blob === 'string' ? null : await newObject('blob', blob)
  const tree = formatTreeObject([{ mode, name, id: content ? content.id : String(blob) }])
  const objects: NewObject[] = [{ id: '', type: 'tree', content: tree }, ...(content ? [content] : [])]
  const entries = objects.map(async (object) =>
    Buffer.concat([entryHeader(object), await compress(object.content)]),
  )
  const pack = Buffer.concat([packHeader(objects.length), ...(await Promise.all(entries))])
  return Buffer.concat([pack, createHash('sha1').update(pack).digest()])
}
