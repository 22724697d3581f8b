import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { UnknownLayout } from './layout.js'
import { readLoose } from './loose.js'
import { nullIfMissing } from './missing-files.js'
import { Pack, type PackedObject } from './pack.js'
import { createBuckets } from './pack-index.js'

/** git reads a repository with more packs until housekeeping joins them. */
const packsMax = 100
/** Memory for the indexes of one repository. */
const indexBytesMax = 128 * 1024 * 1024

export interface StoredObject extends PackedObject {
  id: string
}

/** Packs and loose objects of one repository. A missing object triggers a search for new packs. */
export class ObjectStore {
  readonly #objectsPath: string
  readonly #buckets = createBuckets(indexBytesMax)
  #packs = new Map<string, Pack>()
  #scanned = false
  #scanning: Promise<boolean> | undefined
  #lastUsed = ''

  constructor(path: string) {
    this.#objectsPath = join(path, 'objects')
  }

  get memoryBytes(): number {
    let bytes = this.#buckets.calculatedSize
    for (const pack of this.#packs.values()) bytes += pack.memoryBytes
    return bytes
  }

  async close(): Promise<void> {
    const packs = [...this.#packs.values()]
    this.#packs.clear()
    await Promise.all(packs.map((pack) => pack.close()))
  }

  /**
   * @returns null when the repository has no such object
   * @throws UnknownLayout, DamagedObject, or a system error of reading a file
   */
  async read(id: string): Promise<PackedObject | null> {
    const key = Buffer.from(id, 'hex')
    if (!this.#scanned) await this.#scan()
    return (
      (await this.#readPacked(key)) ??
      (await readLoose(this.#objectsPath, id)) ??
      // Another process may have packed the object in the meantime.
      ((await this.#scan()) ? this.#readPacked(key) : null)
    )
  }

  async #readPacked(key: Buffer): Promise<PackedObject | null> {
    for (const [name, pack] of [...this.#packs]) {
      const found = await pack.read(key)
      if (!found) continue
      if (this.#lastUsed !== name) this.#moveToFront(name, pack)
      return found
    }
    return null
  }

  /** The next object is most likely in the same pack. */
  #moveToFront(name: string, pack: Pack): void {
    this.#lastUsed = name
    if (this.#packs.size === 1 || !this.#packs.has(name)) return
    this.#packs.delete(name)
    this.#packs = new Map([[name, pack], ...this.#packs])
  }

  /** Opens new packs and closes removed ones. Simultaneous calls share one scan. @returns whether there are new packs */
  #scan(): Promise<boolean> {
    this.#scanning ??= this.#scanOnce().finally(() => {
      this.#scanning = undefined
    })
    return this.#scanning
  }

  async #scanOnce(): Promise<boolean> {
    const names = await packNames(join(this.#objectsPath, 'pack'))
    for (const [name, pack] of this.#packs) {
      if (names.has(name)) continue
      this.#packs.delete(name)
      await pack.close()
    }
    const fresh = [...names].filter((name) => !this.#packs.has(name))
    for (const name of fresh) await this.#open(name)
    this.#scanned = true
    return fresh.length > 0
  }

  async #open(name: string): Promise<void> {
    // The objects of a pack that was removed after the folder was listed are in another pack.
    const pack = await nullIfMissing(Pack.open(join(this.#objectsPath, 'pack', name), this.#buckets))
    if (pack) this.#packs.set(name, pack)
  }
}

/** Names of complete packs: git writes the index last. */
async function packNames(folder: string): Promise<Set<string>> {
  const files = (await nullIfMissing(readdir(folder))) ?? []
  const names = new Set<string>()
  for (const file of files) {
    if (file.endsWith('.promisor')) throw new UnknownLayout('partial clone')
    if (file.startsWith('pack-') && file.endsWith('.idx')) names.add(file.slice(0, -'.idx'.length))
  }
  if (names.size > packsMax) throw new UnknownLayout('many packs')
  return names
}
