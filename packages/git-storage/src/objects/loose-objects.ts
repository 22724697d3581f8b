import { randomUUID } from 'node:crypto'
import { mkdir, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { TakeSpace } from '../repository.js'
import { syncFolder, unlessMissing, writeDurably } from './durable-files.js'
import { type NewObject, objectHeader } from './new-object.js'

const compress = promisify(deflate)

/**
 * Most attempts to write a file. Housekeeping removes empty folders, so a new folder may vanish before its
 * first file is written, several times in a row.
 */
const attemptsMax = 50

/**
 * Stores each object in a separate file. All files are durable when the promise resolves.
 *
 * @param takeSpace receives the bytes of the new files before they are written
 * @throws what `takeSpace` throws
 */
export async function writeLooseObjects(
  objectsPath: string,
  objects: readonly NewObject[],
  takeSpace: TakeSpace,
): Promise<void> {
  const found = await Promise.all(objects.map((object) => prepare(objectsPath, object)))
  const files = found.filter((file) => file !== null)
  if (files.length > 0) await takeSpace(files.reduce((sum, { bytes }) => sum + bytes.length, 0))
  const touched = new Set(await Promise.all(files.map(writeLoose)))
  if (touched.size > 0) touched.add(objectsPath)
  // A missing folder was removed by housekeeping after its objects were packed durably.
  await Promise.all([...touched].map((folder) => syncFolder(folder).catch(unlessMissing)))
}

interface LooseFile {
  path: string
  bytes: Buffer
}

/**
 * Prepares the file of an object.
 *
 * @returns null when the object exists already
 */
async function prepare(objectsPath: string, { id, type, content }: NewObject): Promise<LooseFile | null> {
  const path = join(objectsPath, id.slice(0, 2), id.slice(2))
  if (await refresh(path)) return null
  const bytes = await compress(Buffer.concat([objectHeader(type, content), content]), { level: 1 })
  return { path, bytes }
}

/**
 * Writes the file of an object.
 *
 * @returns the folder of the new file
 */
async function writeLoose({ path: file, bytes }: LooseFile): Promise<string> {
  const folder = dirname(file)
  for (let attempt = 1; ; attempt += 1) {
    try {
      await mkdir(folder, { recursive: true })
      await writeDurably(join(folder, `tmp_obj_${randomUUID()}`), file, async (handle) => {
        await handle.writeFile(bytes)
      })
      return folder
    } catch (error) {
      if (attempt === attemptsMax) throw error
      unlessMissing(error)
    }
  }
}

/**
 * Returns whether the object is already stored. Sets the time of its file, so that housekeeping does not
 * remove it as unused.
 */
async function refresh(file: string): Promise<boolean> {
  try {
    const now = new Date()
    await utimes(file, now, now)
    return true
  } catch (error) {
    unlessMissing(error)
    return false
  }
}
