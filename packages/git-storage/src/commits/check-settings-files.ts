import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import {
  folderMode,
  formatTreeObject,
  refuseAction,
  type TreeEdit,
  type TreeEntry,
  type TreeFolder,
} from '@switchyard/domain/commit'
import { type NewObject, newObject } from '../objects/new-object.js'
import { entryHeader, packHeader } from '../objects/pack-file.js'
import { withQuarantine } from '../objects/quarantine.js'
import { gitFailure, runGit } from '../processes/git-process.js'
import type { Repository } from '../repository.js'

const compress = promisify(deflate)

/**
 * Checks files such as `.gitmodules` with the checks that git applies to a push. For example, the URL of a
 * submodule must not look like an option of a clone. A refused file is not committed.
 *
 * @throws DomainError invalid, with `action_index` and `file_path`, for a file that git refuses
 */
export async function checkSettingsFiles(
  repository: Repository,
  root: TreeFolder,
  edits: readonly TreeEdit[],
): Promise<void> {
  const candidates = candidatesOf(root, edits)
  if (candidates.length === 0) return
  const refusal = async (some: readonly Candidate[]) => unpackAside(repository, await packOf(some))
  if ((await refusal(candidates)) === null) return
  let accepted = 0
  for (let refused = candidates.length; refused - accepted > 1; ) {
    const middle = Math.floor((accepted + refused) / 2)
    if ((await refusal(candidates.slice(0, middle))) === null) accepted = middle
    else refused = middle
  }
  const first = candidates[accepted] as Candidate
  const reason = await refusal([first])
  throw refuseAction(first.index, first.filePath, `git refuses this file: ${reason}`)
}

/** A file or folder of the new tree, and the edit that it belongs to. */
interface Candidate extends Pick<TreeEdit, 'filePath'> {
  name: string
  entry: TreeEntry
  index: number
}

/**
 * Returns the edited files and the folders above them whose names may be names of settings files. One folder
 * stands for all folders of its name, because git checks only the name.
 */
function candidatesOf(root: TreeFolder, edits: readonly TreeEdit[]): Candidate[] {
  const found = new Map<TreeEntry | string, Candidate>()
  for (const [index, { path, filePath }] of edits.entries()) {
    for (const [name, entry] of entriesAlong(root, path)) {
      const key = entry.kind === 'folder' ? name : entry
      if (mayBeSettings(name) && !found.has(key)) found.set(key, { name, entry, index, filePath })
    }
  }
  return [...found.values()]
}

/** Yields the entries at each step of a path, as far as the tree has it. */
function* entriesAlong(root: TreeFolder, path: readonly string[]): Generator<[name: string, TreeEntry]> {
  let folder: TreeEntry = root
  for (const name of path) {
    const entry: TreeEntry | undefined = folder.kind === 'folder' ? folder.entries?.get(name) : undefined
    if (!entry) return
    yield [name, entry]
    folder = entry
  }
}

const longName = /^\.git(?:modules|attributes)[ .]*(?::|$)/i
const shortName = /^g?i?.{0,5}~\d/i

/**
 * Returns whether a file system may treat a disguised or shortened name as that of a settings file. git makes
 * the exact check.
 */
function mayBeSettings(name: string): boolean {
  // A file system may ignore characters that are not ASCII, and a backslash may separate names.
  const plain = name.replace(/[^ -~]/g, '')
  return plain.split('\\').some((piece) => longName.test(piece) || shortName.test(piece))
}

/**
 * Unpacks objects into a separate folder with all of git's checks.
 *
 * @returns the reason why git refuses the objects; null when it accepts them
 */
const unpackAside = (repository: Repository, pack: Buffer): Promise<string | null> =>
  withQuarantine(repository, async ({ variables }) => {
    const command = { command: 'unpack-objects', flags: ['-q', '--strict'] }
    const result = await runGit(repository, command, { stdin: pack, variables })
    if (result.code === 0) return null
    const [, reason] = /^error: object \w+: \w+: (.+)$/m.exec(result.stderr) ?? []
    if (reason === undefined) throw gitFailure(command, result)
    return reason
  })

/**
 * Creates a pack with a tree of each single entry, and with the contents of the entries that are not stored
 * yet.
 */
async function packOf(candidates: readonly Candidate[]): Promise<Buffer> {
  const objects: NewObject[] = []
  for (const { name, entry } of candidates) {
    const content = await contentOf(entry)
    const mode = entry.kind === 'file' ? entry.mode : folderMode
    const id = typeof content === 'string' ? content : content.id
    objects.push(await newObject('tree', formatTreeObject([{ mode, name, id }])))
    if (typeof content !== 'string') objects.push(content)
  }
  const entries: Buffer[] = []
  for (const object of objects) entries.push(entryHeader(object), await compress(object.content))
  const pack = Buffer.concat([packHeader(objects.length), ...entries])
  return Buffer.concat([pack, createHash('sha1').update(pack).digest()])
}

/**
 * Returns the new content of an entry, or the id of its stored content. An empty tree stands for every
 * folder.
 */
async function contentOf(entry: TreeEntry): Promise<NewObject | string> {
  if (entry.kind === 'folder') return newObject('tree', new Uint8Array())
  return typeof entry.blob === 'string' ? entry.blob : newObject('blob', entry.blob)
}
