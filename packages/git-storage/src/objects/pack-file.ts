import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type FileHandle, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, createDeflate, deflate } from 'node:zlib'
import type { TakeSpace } from '../repository.js'
import { syncFolder, writeDurably } from './durable-files.js'
import type { NewObject } from './new-object.js'
import { formatPackIndex, type PackEntry } from './pack-index-file.js'

const compress = promisify(deflate)

/** Compression level. The fastest suffices, because housekeeping packs the objects again with deltas. */
const level = 1
/** Largest content that is compressed in one piece. */
const wholeBytesMax = 1024 * 1024
/**
 * Most objects that are compressed at the same time, because starting a compression blocks the event loop for
 * about a tenth of a millisecond.
 */
const batchObjectsMax = 32
const typeNumbers = { commit: 1, tree: 2, blob: 3, tag: 4 }

/**
 * Stores objects in one pack, which is durable when the promise resolves. Memory does not grow with the size
 * of the objects.
 *
 * @param objects without duplicates
 * @param takeSpace receives the bytes of pack and index before the pack gets its name
 * @throws what `takeSpace` throws
 */
export async function writePack(
  objectsPath: string,
  objects: readonly NewObject[],
  takeSpace: TakeSpace,
): Promise<void> {
  const folder = join(objectsPath, 'pack')
  await mkdir(folder, { recursive: true })
  const temporary = randomUUID()
  const entries: PackEntry[] = []
  let index: Buffer = Buffer.alloc(0)
  const pack = (name: string) => join(folder, name)
  // The name is a hash of the ids, so a second attempt replaces the first pack.
  const name = `pack-${createHash('sha1')
    .update(objects.map(({ id }) => id).join())
    .digest('hex')}`
  await writeDurably(pack(`tmp_pack_${temporary}`), pack(`${name}.pack`), async (handle) => {
    const writer = new PackWriter(handle)
    await writer.begin(objects.length)
    for (const batch of batches(objects)) entries.push(...(await writer.add(batch)))
    index = formatPackIndex(entries, await writer.finish())
    await takeSpace(writer.bytes + index.length)
  })
  // Readers look for indexes, so the index is written last.
  await writeDurably(pack(`tmp_idx_${temporary}`), pack(`${name}.idx`), async (handle) => {
    await handle.writeFile(index)
  })
  await Promise.all([syncFolder(folder), syncFolder(objectsPath)])
}

/** Yields groups of objects that are compressed at the same time. */
function* batches(objects: readonly NewObject[]): Generator<NewObject[]> {
  let batch: NewObject[] = []
  let bytes = 0
  for (const object of objects) {
    const fits = bytes + object.content.length <= wholeBytesMax && batch.length < batchObjectsMax
    if (!fits && batch.length > 0) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(object)
    bytes += object.content.length
  }
  if (batch.length > 0) yield batch
}

class PackWriter {
  readonly #handle: FileHandle
  readonly #hash = createHash('sha1')
  #offset = 0

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  get bytes(): number {
    return this.#offset
  }

  async begin(count: number): Promise<void> {
    await this.#write(packHeader(count))
  }

  async add(batch: NewObject[]): Promise<PackEntry[]> {
    const [only] = batch
    if (only && batch.length === 1 && only.content.length > wholeBytesMax) return [await this.#addLarge(only)]
    const packed = await Promise.all(
      batch.map(async (object) =>
        Buffer.concat([entryHeader(object), await compress(object.content, { level })]),
      ),
    )
    let offset = this.#offset
    const entries = packed.map((bytes, index) => {
      const entry = { id: batch[index]?.id ?? '', offset, crc: crc32(bytes) }
      offset += bytes.length
      return entry
    })
    await this.#write(Buffer.concat(packed))
    return entries
  }

  async #addLarge(object: NewObject): Promise<PackEntry> {
    const offset = this.#offset
    const header = entryHeader(object)
    let crc = crc32(header)
    await this.#write(header)
    const stream = createDeflate({ level })
    const fed = feed(stream, object.content)
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      crc = crc32(chunk, crc)
      await this.#write(chunk)
    }
    await fed
    return { id: object.id, offset, crc }
  }

  /**
   * Finishes the pack.
   *
   * @returns the checksum that ends the pack
   */
  async finish(): Promise<Buffer> {
    const checksum = this.#hash.digest()
    await this.#handle.write(checksum)
    return checksum
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes)
    this.#offset += bytes.length
    await this.#handle.writeFile(bytes)
  }
}

async function feed(stream: NodeJS.WritableStream, content: Uint8Array): Promise<void> {
  for (let at = 0; at < content.length; at += wholeBytesMax) {
    if (!stream.write(content.subarray(at, at + wholeBytesMax))) await once(stream, 'drain')
  }
  stream.end()
}

/** Returns the first bytes of a pack with this number of objects. */
export function packHeader(count: number): Buffer {
  const header = Buffer.alloc(12)
  header.write('PACK', 'latin1')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(count, 8)
  return header
}

/**
 * Returns the header of an object, with its type and size: four bits of the size in the first byte, seven in
 * each later byte.
 */
export function entryHeader({ type, content }: NewObject): Buffer {
  const bytes: number[] = []
  let rest = Math.floor(content.length / 16)
  let byte = (typeNumbers[type] << 4) | (content.length % 16)
  while (rest > 0) {
    bytes.push(byte | 0x80)
    byte = rest % 128
    rest = Math.floor(rest / 128)
  }
  return Buffer.from([...bytes, byte])
}
