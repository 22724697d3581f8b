import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { UnknownLayout } from './layout.js'
import { readLoose } from './loose.js'
import { Pack, type PackedObject } from './pack.js'
import { createBuckets } from './pack-index.js'

/** More packs than this are for git to search; housekeeping brings them together. */
const packsMax = 100
/** What is kept of all indexes of one repository. */
const indexBytesMax = 128 * 1024 * 1024

export interface StoredObject extends PackedObject {
  id: string
}

/** Packs and loose objects of one repository. Packs that others write or replace are found on a miss. */
export class ObjectStore {
  readonly #objectsPath: string
  readonly #buckets = createBuckets(indexBytesMax)
  #packs = new Map<string, Pack>()
  #scanned = false

  constructor(path: string) {
    this.#objectsPath = join(path, 'objects')
  }

  get memoryBytes(): number {
    let bytes = this.#buckets.calculatedSize
    for (const pack of this.#packs.values()) bytes += pack.memoryBytes
    return bytes
  }

  close(): void {
    for (const pack of this.#packs.values()) pack.close()
    this.#packs.clear()
  }

  /**
   * @returns null when it is nowhere
   * @throws UnknownLayout, or what reading failed with
   */
  read(id: string): PackedObject | null {
    const key = Buffer.from(id, 'hex')
    if (!this.#scanned) this.#scan()
    return (
      this.#readPacked(key) ??
      readLoose(this.#objectsPath, id) ??
      // Somebody else may have packed it meanwhile.
      (this.#scan() ? this.#readPacked(key) : null)
    )
  }

  #readPacked(key: Buffer): PackedObject | null {
    for (const [name, pack] of this.#packs) {
      const found = pack.read(key)
      if (!found) continue
      if (this.#lastUsed !== name) this.#moveToFront(name, pack)
      return found
    }
    return null
  }

  #lastUsed = ''

  /** The next object is most likely in the same pack. */
  #moveToFront(name: string, pack: Pack): void {
    this.#lastUsed = name
    if (this.#packs.size === 1) return
    this.#packs.delete(name)
    this.#packs = new Map([[name, pack], ...this.#packs])
  }

  /** Opens new packs and closes those that are gone. @returns whether there are new ones */
  #scan(): boolean {
    const names = packNames(join(this.#objectsPath, 'pack'))
    for (const [name, pack] of this.#packs) {
      if (names.has(name)) continue
      this.#packs.delete(name)
      pack.close()
    }
    const fresh = [...names].filter((name) => !this.#packs.has(name))
    for (const name of fresh) this.#open(name)
    this.#scanned = true
    return fresh.length > 0
  }

  #open(name: string): void {
    try {
      this.#packs.set(name, new Pack(join(this.#objectsPath, 'pack', name), this.#buckets))
    } catch (error) {
      // Removed between looking and opening: what was in it is in another pack now.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

/** Names of complete packs: git writes the index last. */
function packNames(folder: string): Set<string> {
  const files = readdirOrNone(folder)
  const names = new Set<string>()
  for (const file of files) {
    if (file.endsWith('.promisor')) throw new UnknownLayout('partial clone')
    if (file.startsWith('pack-') && file.endsWith('.idx')) names.add(file.slice(0, -'.idx'.length))
  }
  if (names.size > packsMax) throw new UnknownLayout('many packs')
  return names
}

function readdirOrNone(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
