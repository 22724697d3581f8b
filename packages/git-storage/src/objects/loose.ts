import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { UnknownLayout } from './layout.js'
import { objectBytesMax, type PackedObject } from './pack.js'

const headerBytesMax = 32

/**
 * @returns null when there is no such loose object
 * @throws UnknownLayout when it is too large, or not well-formed
 */
export function readLoose(objectsPath: string, id: string): PackedObject | null {
  const file = join(objectsPath, id.slice(0, 2), id.slice(2))
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found?.isFile()) return null
  if (found.size > objectBytesMax) throw new UnknownLayout('large object')
  const bytes = inflateSync(readFileSync(file), { maxOutputLength: objectBytesMax + headerBytesMax })
  const nul = bytes.indexOf(0)
  const [type, size] = bytes.toString('latin1', 0, Math.min(nul, headerBytesMax)).split(' ')
  if (nul < 0 || !type || Number(size) !== bytes.length - nul - 1) throw new UnknownLayout('loose object')
  return { type, content: bytes.subarray(nul + 1) }
}
