import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'

const compress = promisify(deflate)

export type ObjectType = 'blob' | 'tree' | 'commit'

/**
 * Writes loose objects of one repository. They are on disk, synced, when {@link ObjectWriter.settle}
 * returns; until then nothing may refer to them.
 */
export class ObjectWriter {
  readonly #objects: string
  readonly #touchedFolders = new Set<string>()

  /** @param path of the bare repository */
  constructor(path: string) {
    this.#objects = join(path, 'objects')
  }

  /** @returns the object's id */
  async write(type: ObjectType, content: Uint8Array): Promise<string> {
    const header = Buffer.from(`${type} ${content.length}\0`)
    const id = createHash('sha1').update(header).update(content).digest('hex')
    const file = join(this.#objects, id.slice(0, 2), id.slice(2))
    if (await refresh(file)) return id
    const folder = dirname(file)
    await mkdir(folder, { recursive: true })
    const temporary = join(folder, `tmp_obj_${randomUUID()}`)
    try {
      await writeSynced(temporary, await compress(Buffer.concat([header, content]), { level: 1 }))
      await rename(temporary, file)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
    this.#touchedFolders.add(folder).add(this.#objects)
    return id
  }

  /** Makes the names of the new files durable; their contents are already. */
  async settle(): Promise<void> {
    const folders = [...this.#touchedFolders]
    this.#touchedFolders.clear()
    await Promise.all(folders.map(syncFolder))
  }
}

/** Whether the object is stored already. Its new time keeps it from being cleaned up as unused. */
async function refresh(file: string): Promise<boolean> {
  try {
    const now = new Date()
    await utimes(file, now, now)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

async function writeSynced(file: string, content: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o444)
  try {
    await handle.writeFile(content)
    await handle.datasync()
  } finally {
    await handle.close()
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
