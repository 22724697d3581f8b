import { UnknownLayout } from './layout.js'

/** What stands at a path in a tree: mode and id in one text; null when nothing does. */
export type TreeEntryText = string | null

export const isFile = (entry: TreeEntryText) => entry !== null && !entry.startsWith('40000 ')

const idBytes = 20

/** Looks paths up in trees. @param readTree fails when there is no such tree */
export class TreeLookup {
  readonly #readTree: (id: string) => Buffer
  readonly #names: Buffer[]

  /** @param path as trees store it, checked to be plain: no empty parts, no dots */
  constructor(readTree: (id: string) => Buffer, path: string) {
    this.#readTree = readTree
    this.#names = path.split('/').map((name) => Buffer.from(name, 'latin1'))
  }

  /** What stands there in two trees, as far down as they differ; the same value twice where they do not. */
  compare(before: string | null, after: string): [TreeEntryText, TreeEntryText] {
    let [was, is]: [TreeEntryText, TreeEntryText] = [before && `40000 ${before}`, `40000 ${after}`]
    for (const name of this.#names) {
      if (was === is) return [was, is]
      was = this.#below(was, name)
      is = this.#below(is, name)
    }
    return [was, is]
  }

  #below(entry: TreeEntryText, name: Buffer): TreeEntryText {
    if (entry === null || isFile(entry)) return null
    return findEntry(this.#readTree(entry.slice('40000 '.length)), name)
  }
}

/** @throws UnknownLayout for a tree that is not well-formed */
function findEntry(tree: Buffer, name: Buffer): TreeEntryText {
  for (let at = 0; at < tree.length; ) {
    const blank = tree.indexOf(0x20, at)
    const nul = tree.indexOf(0, blank)
    if (blank < 0 || nul < 0 || nul + idBytes >= tree.length) throw new UnknownLayout('malformed tree')
    if (nul - blank - 1 === name.length && name.equals(tree.subarray(blank + 1, nul)))
      return `${plainMode(tree.toString('latin1', at, blank))} ${tree.toString('hex', nul + 1, nul + 1 + idBytes)}`
    at = nul + 1 + idBytes
  }
  return null
}

/** Of a file only whether it is executable counts, as git has it. */
function plainMode(mode: string): string {
  if (mode === '40000' || mode === '040000') return '40000'
  return mode.startsWith('100') ? (Number.parseInt(mode, 8) & 0o100 ? '100755' : '100644') : mode
}
