import { createHash } from 'node:crypto'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag'

/** An object that may not be stored yet. */
export interface NewObject {
  id: string
  type: ObjectType
  content: Uint8Array
}

/** Most bytes that are hashed at once, which takes some milliseconds. */
const sliceBytes = 4 * 1024 * 1024

/** Returns the header that precedes the content when git hashes and stores an object. */
export const objectHeader = (type: ObjectType, content: Uint8Array) =>
  Buffer.from(`${type} ${content.length}\0`)

/** Computes the id of an object. Yields to the event loop during a large content. */
export async function newObject(type: ObjectType, content: Uint8Array): Promise<NewObject> {
  const hash = createHash('sha1').update(objectHeader(type, content))
  for (let at = 0; at < content.length; at += sliceBytes) {
    if (at > 0) await yieldToEventLoop()
    hash.update(content.subarray(at, at + sliceBytes))
  }
  return { id: hash.digest('hex'), type, content }
}
