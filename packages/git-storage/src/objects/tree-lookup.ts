import { DamagedObject } from './fallbacks.js'

/** Reads a tree object. Rejects when it does not exist. */
export type ReadTree = (id: string) => Promise<Buffer>

/** Mode and id of a tree entry, separated by a blank; null when there is no entry. */
export type TreeEntryText = string | null

export const isFile = (entry: TreeEntryText) => entry !== null && !entry.startsWith('40000 ')

const idBytes = 20

/** Looks up one path in trees. */
export class TreeLookup {
  readonly #readTree: ReadTree
  readonly #names: Buffer[]

  /** @param path as trees store it, without empty parts, `.` or `..` */
  constructor(readTree: ReadTree, path: string) {
    this.#readTree = readTree
    this.#names = path.split('/').map((name) => Buffer.from(name, 'latin1'))
  }

  /** The entries at the path in two trees. When a folder on the path is equal in both, that folder is returned for both. */
  async compare(before: string | null, after: string): Promise<[TreeEntryText, TreeEntryText]> {
    let [was, is]: [TreeEntryText, TreeEntryText] = [before && `40000 ${before}`, `40000 ${after}`]
    for (const name of this.#names) {
      if (was === is) return [was, is]
      ;[was, is] = await Promise.all([this.#below(was, name), this.#below(is, name)])
    }
    return [was, is]
  }

  async #below(entry: TreeEntryText, name: Buffer): Promise<TreeEntryText> {
    if (entry === null || isFile(entry)) return null
    return findEntry(await this.#readTree(entry.slice('40000 '.length)), name)
  }
}

/** @throws DamagedObject for a tree that is not well-formed */
function findEntry(tree: Buffer, name: Buffer): TreeEntryText {
  for (let at = 0; at < tree.length; ) {
    const blank = tree.indexOf(0x20, at)
    const nul = tree.indexOf(0, blank)
    if (blank < 0 || nul < 0 || nul + idBytes >= tree.length) throw new DamagedObject('malformed tree')
    if (nul - blank - 1 === name.length && name.equals(tree.subarray(blank + 1, nul)))
      return `${plainMode(tree.toString('latin1', at, blank))} ${tree.toString('hex', nul + 1, nul + 1 + idBytes)}`
    at = nul + 1 + idBytes
  }
  return null
}

/** For git, modes of files differ only in whether the file is executable. */
function plainMode(mode: string): string {
  if (mode === '40000' || mode === '040000') return '40000'
  return mode.startsWith('100') ? (Number.parseInt(mode, 8) & 0o100 ? '100755' : '100644') : mode
}
