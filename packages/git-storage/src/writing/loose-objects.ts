import { randomUUID } from 'node:crypto'
import { mkdir, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { syncFolder, writeDurably } from './durable-files.js'
import { type NewObject, objectHeader } from './new-object.js'

const compress = promisify(deflate)

/** Housekeeping removes folders that have become empty, also one that was just made, and on a busy machine many times. */
const attemptsMax = 50

/** Stores each object in a file of its own; all are durable when this returns. */
export async function writeLooseObjects(objectsPath: string, objects: readonly NewObject[]): Promise<void> {
  const folders = await Promise.all(objects.map((object) => writeLoose(objectsPath, object)))
  const touched = new Set(folders.filter((folder) => folder !== null))
  if (touched.size > 0) touched.add(objectsPath)
  // A folder that is gone again was emptied by packing what was in it, durably.
  await Promise.all([...touched].map((folder) => syncFolder(folder).catch(unlessMissing)))
}

/** @returns the folder that has a new name in it; null when the object was there */
async function writeLoose(objectsPath: string, { id, type, content }: NewObject): Promise<string | null> {
  const file = join(objectsPath, id.slice(0, 2), id.slice(2))
  if (await refresh(file)) return null
  const folder = dirname(file)
  const bytes = await compress(Buffer.concat([objectHeader(type, content), content]), { level: 1 })
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

function unlessMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}

/** Whether the object is stored already. Its new time keeps it from being cleaned up as unused. */
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
