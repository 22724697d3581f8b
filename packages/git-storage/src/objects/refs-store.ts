import type { Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UnknownLayout } from './layout.js'
import { nullIfMissing } from './missing-files.js'

const symbolicDepthMax = 5
const fullHash = /^[0-9a-f]{40}$/

/** References of one repository. Loose references are read each time; packed ones are cached until their file changes. */
export class RefsStore {
  readonly #path: string
  #packed = new Map<string, string>()
  #packedStamp = ''

  constructor(path: string) {
    this.#path = path
  }

  /**
   * Object id of a reference; null when it does not exist.
   *
   * @param refName `HEAD` or a full, valid name
   * @throws UnknownLayout when git must resolve the reference
   */
  async resolve(refName: string, depth = 0): Promise<string | null> {
    if (depth > symbolicDepthMax) throw new UnknownLayout('symbolic references in a circle')
    const loose = await this.#readLoose(refName)
    if (loose === null) return this.#findPacked(refName)
    if (loose.startsWith('ref:')) return this.resolve(loose.slice('ref:'.length).trim(), depth + 1)
    const id = loose.slice(0, 40)
    // The name may be that of another file of the repository, such as `config`.
    if (!fullHash.test(id) || loose.slice(40).trim() !== '') throw new UnknownLayout('damaged reference')
    return id
  }

  async #readLoose(refName: string): Promise<string | null> {
    const file = join(this.#path, refName)
    const found = await nullIfMissing(stat(file))
    return found?.isFile() ? nullIfMissing(readFile(file, 'latin1')) : null
  }

  async #findPacked(refName: string): Promise<string | null> {
    const file = join(this.#path, 'packed-refs')
    const found = await nullIfMissing(stat(file))
    const stamp = found ? stampOf(found) : ''
    if (stamp !== this.#packedStamp) {
      const text = found ? await nullIfMissing(readFile(file, 'latin1')) : null
      this.#packed = parsePackedRefs(text ?? '')
      this.#packedStamp = stamp
    }
    return this.#packed.get(latin1Of(refName)) ?? null
  }
}

const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`

/** The file is read as Latin-1, because names may have any encoding. */
const latin1Of = (text: string) => Buffer.from(text).toString('latin1')

function parsePackedRefs(text: string): Map<string, string> {
  const refs = new Map<string, string>()
  for (const line of text.split('\n')) {
    if (line[40] !== ' ') continue
    refs.set(line.slice(41), line.slice(0, 40))
  }
  return refs
}
