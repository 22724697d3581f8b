import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import { DamagedObject } from './fallbacks.js'
import { UnknownLayout } from './layout.js'
import { nullIfMissing } from './missing-files.js'
import { objectBytesMax, type PackedObject } from './pack.js'

const inflateWhole = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate)

const headerBytesMax = 32

/**
 * @returns null when there is no such loose object
 * @throws UnknownLayout for a large object; DamagedObject for one that is not well-formed
 */
export async function readLoose(objectsPath: string, id: string): Promise<PackedObject | null> {
  const file = join(objectsPath, id.slice(0, 2), id.slice(2))
  const found = await nullIfMissing(stat(file))
  if (!found?.isFile()) return null
  if (found.size > objectBytesMax) throw new UnknownLayout('large object')
  const packed = await nullIfMissing(readFile(file))
  if (!packed) return null
  const bytes = await inflateWhole(packed, { maxOutputLength: objectBytesMax + headerBytesMax }).catch(refuse)
  const nul = bytes.indexOf(0)
  const [type, size] = bytes.toString('latin1', 0, Math.min(nul, headerBytesMax)).split(' ')
  if (nul < 0 || !type || Number(size) !== bytes.length - nul - 1) throw new DamagedObject('loose object')
  return { type, content: bytes.subarray(nul + 1) }
}

function refuse(error: NodeJS.ErrnoException): never {
  if (error.code === 'ERR_BUFFER_TOO_LARGE') throw new UnknownLayout('large object')
  if (error.code?.startsWith('Z_')) throw new DamagedObject(error.message, { cause: error })
  throw error
}
