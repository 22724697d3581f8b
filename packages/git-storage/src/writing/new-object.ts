import { createHash } from 'node:crypto'
import { setImmediate as others } from 'node:timers/promises'

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag'

/** An object that may not be stored yet. */
export interface NewObject {
  id: string
  type: ObjectType
  content: Uint8Array
}

/** Others get their turn after so many bytes: some milliseconds of hashing. */
const sliceBytes = 4 * 1024 * 1024

/** What git puts before the content when it names and stores an object. */
export const objectHeader = (type: ObjectType, content: Uint8Array) =>
  Buffer.from(`${type} ${content.length}\0`)

/** Names an object; other requests go on meanwhile, however large it is. */
export async function newObject(type: ObjectType, content: Uint8Array): Promise<NewObject> {
  const hash = createHash('sha1').update(objectHeader(type, content))
  for (let at = 0; at < content.length; at += sliceBytes) {
    if (at > 0) await others()
    hash.update(content.subarray(at, at + sliceBytes))
  }
  return { id: hash.digest('hex'), type, content }
}
