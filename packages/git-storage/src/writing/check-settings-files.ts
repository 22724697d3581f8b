import { createHash } from 'node:crypto'
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
import { withObjectsAside } from './objects-aside.js'
import { entryHeader, packHeader } from './pack-file.js'

const compress = promisify(deflate)

/**
 * Checks files such as `.gitmodules` with the checks that git applies to a push. For example, the URL of a submodule must not
 * look like an option of a clone. A refused file is not committed.
 *
 * @throws DomainError invalid, with `action_index` and `file_path`, for a file that git refuses
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

/** The paths of the file and of the folders above it whose names may be names of settings files. */
const settingsPaths = ({ path }: TreeEdit): string[][] =>
  path.flatMap((name, depth) => (mayBeSettings(name) ? [path.slice(0, depth + 1)] : []))

const longName = /^\.git(?:modules|attributes)[ .]*(?::|$)/i
const shortName = /^g?i?.{0,5}~\d/i

/** Whether a file system may treat a disguised or shortened name as that of a settings file. git makes the exact check. */
function mayBeSettings(name: string): boolean {
  // A file system may ignore characters that are not ASCII, and a backslash may separate names.
  const plain = name.replace(/[^ -~]/g, '')
  return plain.split('\\').some((piece) => longName.test(piece) || shortName.test(piece))
}

/**
 * Unpacks objects aside with all of git's checks.
 *
 * @returns the reason why git refuses the objects; null when it accepts them
 */
const unpackAside = (repository: OpenRepository, pack: Buffer): Promise<string | null> =>
  withObjectsAside(repository, async ({ variables }) => {
    const command = { command: 'unpack-objects', flags: ['-q', '--strict'] }
    const { path, signal } = repository
    const result = await runGit(path, command, { signal, stdin: pack, variables })
    if (result.code === 0) return null
    const [, reason] = /^error: object \w+: \w+: (.+)$/m.exec(result.stderr) ?? []
    if (reason === undefined) throw gitFailure(command, result)
    return reason
  })

/** A pack with a tree of this single entry, and with the content of the entry unless it is stored already. */
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

/** The new content of an entry, or the id of its stored content. An empty tree stands for every folder. */
async function contentOf(entry: TreeEntry): Promise<NewObject | string> {
  if (entry.kind === 'folder') return newObject('tree', new Uint8Array())
  return typeof entry.blob === 'string' ? entry.blob : newObject('blob', entry.blob)
}
