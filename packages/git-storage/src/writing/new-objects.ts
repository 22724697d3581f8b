import { join } from 'node:path'
import { setImmediate as others } from 'node:timers/promises'
import { writeLooseObjects } from './loose-objects.js'
import { type NewObject, newObject, type ObjectType } from './new-object.js'
import { writePack } from './pack-file.js'

/** More objects, or more bytes, go into a pack: one file is quicker to make and to sync than many. */
const looseCountMax = 32
const looseBytesMax = 1024 * 1024
const pauseBytes = 2 * 1024 * 1024
/** What an object costs beside its bytes takes as long as so many of them. */
const objectBytes = 16 * 1024

/** Gathers the objects that a repository is to get, and stores them together. */
export class NewObjects {
  readonly #objectsPath: string
  readonly #ids = new Map<Uint8Array, string>()
  readonly #stored = new Set<string>()
  #waiting = new Map<string, NewObject>()
  #bytesSincePause = 0

  /** @param path of the bare repository */
  constructor(path: string) {
    this.#objectsPath = join(path, 'objects')
  }

  /**
   * @param content not changed from now on; the same one is looked at only once
   * @returns the object's id; nothing may refer to it before it is stored
   */
  async add(type: ObjectType, content: Uint8Array): Promise<string> {
    const known = this.#ids.get(content)
    if (known !== undefined) return known
    await this.#pause(content.length)
    const object = await newObject(type, content)
    this.#ids.set(content, object.id)
    if (!this.#stored.has(object.id)) this.#waiting.set(object.id, object)
    return object.id
  }

  /** Lets other requests go on after some milliseconds. */
  async #pause(bytes: number): Promise<void> {
    this.#bytesSincePause += bytes + objectBytes
    if (this.#bytesSincePause < pauseBytes) return
    this.#bytesSincePause = 0
    await others()
  }

  /** Everything added so far is on disk, synced, when this returns. */
  async store(): Promise<void> {
    const objects = [...this.#waiting.values()]
    this.#waiting = new Map()
    const bytes = objects.reduce((sum, { content }) => sum + content.length, 0)
    if (objects.length > looseCountMax || bytes > looseBytesMax) await writePack(this.#objectsPath, objects)
    else await writeLooseObjects(this.#objectsPath, objects)
    for (const { id } of objects) this.#stored.add(id)
  }
}
