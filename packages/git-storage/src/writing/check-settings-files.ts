import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import {
  entryAt,
  folderMode,
  formatTreeObject,
  refuseAction,
  type TreeEdit,
  type TreeEntry,
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
  repository: OpenRepository,
  root: TreeFolder,
  edits: readonly TreeEdit[],
): Promise<void> {
  const checked = new Set<string>()
  for (const [index, edit] of edits.entries()) {
    for (const path of settingsPaths(edit)) {
      const entry = checked.has(path.join('/')) ? null : entryAt(root, path)
      checked.add(path.join('/'))
      if (entry === null) continue
      const reason = await unpackAside(repository, await packOf(path.at(-1) ?? '', entry))
      if (reason !== null) throw refuseAction(index, edit.filePath, `git refuses this file: ${reason}`)
    }
  }
}

/** The file and the folders above it, as far as their names may be those of settings. */
const settingsPaths = ({ path }: TreeEdit): string[][] =>
  path.flatMap((name, depth) => (mayBeSettings(name) ? [path.slice(0, depth + 1)] : []))

const longName = /^\.git(?:modules|attributes)[ .]*(?::|$)/i
const shortName = /^g?i?.{0,5}~\d/i

/** Whether a file system may take a name for one of them, disguised or shortened; git itself knows exactly. */
function mayBeSettings(name: string): boolean {
  // What is not ASCII may be ignored, and a backslash separates names.
  const plain = name.replace(/[^ -~]/g, '')
  return plain.split('\\').some((piece) => longName.test(piece) || shortName.test(piece))
}

/**
 * Unpacks objects with all of git's checks, in a folder that is gone afterwards; git clears such a folder away, by
 * its name, when this process ends too early.
 *
 * @returns why git refuses them; null when it does not
 */
async function unpackAside({ path, signal }: OpenRepository, pack: Buffer): Promise<string | null> {
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

/** A pack with a folder that has nothing else in it, and with what that entry is unless it is stored already. */
async function packOf(name: string, entry: TreeEntry): Promise<Buffer> {
  const content = await contentOf(entry)
  const mode = entry.kind === 'file' ? entry.mode : folderMode
  const id = typeof content === 'string' ? content : content.id
  const tree = await newObject('tree', formatTreeObject([{ mode, name, id }]))
  const objects = [tree, ...(typeof content === 'string' ? [] : [content])]
  const entries = objects.map(async (object) =>
    Buffer.concat([entryHeader(object), await compress(object.content)]),
  )
  const pack = Buffer.concat([packHeader(objects.length), ...(await Promise.all(entries))])
  return Buffer.concat([pack, createHash('sha1').update(pack).digest()])
}

/** @returns the id of what is stored; an empty folder in the place of any other */
async function contentOf(entry: TreeEntry): Promise<NewObject | string> {
  if (entry.kind === 'folder') return newObject('tree', new Uint8Array())
  return typeof entry.blob === 'string' ? entry.blob : newObject('blob', entry.blob)
}
