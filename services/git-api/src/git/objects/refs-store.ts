import { readFileSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { UnknownLayout } from './layout.js'

const symbolicDepthMax = 5
const fullHash = /^[0-9a-f]{40}$/
/** References of one repository, read anew each time; only the packed ones are kept while their file stays. */
export class RefsStore {
  readonly #path: string
  #packed = new Map<string, string>()
  #packedStamp = ''

  constructor(path: string) {
    this.#path = path
  }

  /**
   * What a reference stands on; null when it does not exist.
   *
   * @param refName `HEAD`, or a full name checked to be valid
   * @throws UnknownLayout when only git can tell
   */
  resolve(refName: string, depth = 0): string | null {
    if (depth > symbolicDepthMax) throw new UnknownLayout('symbolic references in a circle')
    const loose = this.#readLoose(refName)
    if (loose === null) return this.#findPacked(refName)
    if (loose.startsWith('ref:')) return this.resolve(loose.slice('ref:'.length).trim(), depth + 1)
    const id = loose.slice(0, 40)
    // Anything else in the git folder has a name, too, and is no reference.
    if (!fullHash.test(id) || loose.slice(40).trim() !== '') throw new UnknownLayout('damaged reference')
    return id
  }

  #readLoose(refName: string): string | null {
    const file = join(this.#path, refName)
    try {
      const found = statSync(file, { throwIfNoEntry: false })
      return found?.isFile() ? readFileSync(file, 'latin1') : null
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // Removed meanwhile, or below a reference of that name.
      if (code === 'ENOENT' || code === 'ENOTDIR') return null
      throw error
    }
  }

  #findPacked(refName: string): string | null {
    const file = join(this.#path, 'packed-refs')
    const found = statSync(file, { throwIfNoEntry: false })
    const stamp = found ? stampOf(found) : ''
    if (stamp !== this.#packedStamp) {
      this.#packed = found ? parsePackedRefs(readFileSync(file, 'latin1')) : new Map()
      this.#packedStamp = stamp
    }
    return this.#packed.get(latin1Of(refName)) ?? null
  }
}

const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`

/** The file is read as Latin-1, one character a byte. */
const latin1Of = (text: string) => Buffer.from(text).toString('latin1')

function parsePackedRefs(text: string): Map<string, string> {
  const refs = new Map<string, string>()
  for (const line of text.split('\n')) {
    if (line[40] !== ' ') continue
    refs.set(line.slice(41), line.slice(0, 40))
  }
  return refs
}
