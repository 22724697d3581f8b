import { join } from 'node:path'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { TakeSpace } from '../repository.js'
import { writeLooseObjects } from './loose-objects.js'
import { type NewObject, newObject, type ObjectType } from './new-object.js'
import { writePack } from './pack-file.js'

/**
 * Most objects that are stored in separate files. More objects or more bytes go into a pack, because one file
 * is faster to write and flush than many.
 */
const looseCountMax = 32
const looseBytesMax = 1024 * 1024
const pauseBytes = 2 * 1024 * 1024
/** Cost of an object besides its content, as the number of bytes that are hashed in the same time. */
const objectBytes = 16 * 1024

/**
 * New objects of a repository, which are stored together. docs/adr/0014-new-objects-are-written-here.md
 * explains why git does not write them.
 */
export class NewObjects {
  readonly #objectsPath: string
  readonly #takeSpace: TakeSpace
  readonly #ids = new Map<Uint8Array, string>()
  readonly #stored = new Set<string>()
  #waiting = new Map<string, NewObject>()
  #bytesSincePause = 0

  /**
   * Starts without objects.
   *
   * @param path of the bare repository
   * @param takeSpace counts the stored bytes; unset: they are not counted
   */
  constructor(path: string, takeSpace: TakeSpace = async () => {}) {
    this.#objectsPath = join(path, 'objects')
    this.#takeSpace = takeSpace
  }

  /**
   * Adds an object.
   *
   * @param content must not change afterwards; the same array is hashed only once
   * @returns id of the object; no reference may point to it before `store` resolves
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

  /** Yields to the event loop after some milliseconds of work. */
  async #pause(bytes: number): Promise<void> {
    this.#bytesSincePause += bytes + objectBytes
    if (this.#bytesSincePause < pauseBytes) return
    this.#bytesSincePause = 0
    await yieldToEventLoop()
  }

  /**
   * Stores all added objects. They are durable when the promise resolves.
   *
   * @throws what `takeSpace` throws
   */
  async store(): Promise<void> {
    const objects = [...this.#waiting.values()]
    this.#waiting = new Map()
    const bytes = objects.reduce((sum, { content }) => sum + content.length, 0)
    if (objects.length > looseCountMax || bytes > looseBytesMax)
      await writePack(this.#objectsPath, objects, this.#takeSpace)
    else await writeLooseObjects(this.#objectsPath, objects, this.#takeSpace)
    for (const { id } of objects) this.#stored.add(id)
  }
}
