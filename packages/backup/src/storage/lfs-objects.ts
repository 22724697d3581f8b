import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { hashedBy, readCompressedLines } from '../files.js'
import { lfsFileOf } from '../manifest.js'

/** An object of Git LFS in a project's repository. */
export interface StoredObject {
  /** SHA-256 of the bytes. */
  oid: string
  size: number
  diskPath: string
}

export async function* readObjectList(file: string): AsyncGenerator<StoredObject> {
  for await (const line of readCompressedLines(file)) {
    const [oid = '', size = '', diskPath = ''] = line.split('\t')
    yield { oid, size: Number(size), diskPath }
  }
}

export const toLine = ({ oid, size, diskPath }: StoredObject): string => `${oid}\t${size}\t${diskPath}\n`

/** Returns the path of an object in the repository of a project. */
const storedFileOf = (storageRoot: string, { oid, diskPath }: StoredObject): string =>
  join(storageRoot, diskPath, 'lfs', 'objects', oid.slice(0, 2), oid.slice(2, 4), oid)

const sizeOf = (file: string): Promise<number | null> =>
  stat(file).then(
    ({ size }) => size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    },
  )

/**
 * Copies an object into the folder of the backup, unless the folder has a file of its name and size. That
 * file is not read, because this would make every backup as slow as the first one; `npm run backup --
 * --check` reads it.
 *
 * @returns whether the folder has the object; false when its repository has lost it
 */
export async function keepObject(
  folder: string,
  storageRoot: string,
  object: StoredObject,
): Promise<boolean> {
  const kept = lfsFileOf(folder, object.oid)
  if ((await sizeOf(kept)) === object.size) return true
  const stored = storedFileOf(storageRoot, object)
  if ((await sizeOf(stored)) === null) return false
  await copyChecked(stored, kept, object.oid)
  return true
}

export const restoreObject = (folder: string, storageRoot: string, object: StoredObject): Promise<void> =>
  copyChecked(lfsFileOf(folder, object.oid), storedFileOf(storageRoot, object), object.oid)

/**
 * Copies an object and flushes it. The copy appears when it is complete.
 *
 * @throws Error when its bytes do not match its name
 */
async function copyChecked(from: string, to: string, oid: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  const temporary = join(dirname(to), `${randomUUID()}.new`)
  const hash = createHash('sha256')
  try {
    const copy = createWriteStream(temporary, { mode: 0o444, flush: true })
    await pipeline(createReadStream(from), hashedBy(hash), copy)
    if (hash.digest('hex') !== oid) throw new Error(`the LFS object ${oid} is damaged: ${from}`)
    await rename(temporary, to)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
