import { randomUUID } from 'node:crypto'
import { mkdir, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { syncFolder, writeDurably } from './durable-files.js'
import { type NewObject, objectHeader } from './new-object.js'

const compress = promisify(deflate)

/** Housekeeping removes empty folders, so a new folder may vanish before its first file is written, several times in a row. */
const attemptsMax = 50

/** Stores each object in a separate file. All files are durable when the promise resolves. */
export async function writeLooseObjects(objectsPath: string, objects: readonly NewObject[]): Promise<void> {
  const folders = await Promise.all(objects.map((object) => writeLoose(objectsPath, object)))
  const touched = new Set(folders.filter((folder) => folder !== null))
  if (touched.size > 0) touched.add(objectsPath)
  // A missing folder was removed by housekeeping after its objects were packed durably.
  await Promise.all([...touched].map((folder) => syncFolder(folder).catch(unlessMissing)))
}

/** @returns the folder of the new file; null when the object exists already */
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

/** Whether the object is stored already. Sets the time of its file, so that housekeeping does not remove it as unused. */
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
