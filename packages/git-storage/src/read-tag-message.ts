import { readObject } from './object-reader.js'
import type { OpenRepository } from './open-repository.js'

/** The text of an annotated tag, without blank space at its end; null for another object. @param id of an object */
export async function readTagMessage(repository: OpenRepository, id: string): Promise<string | null> {
  const object = await readObject(repository, id)
  if (object?.type !== 'tag') return null
  const endOfHeaders = object.content.indexOf('\n\n')
  return endOfHeaders === -1 ? '' : object.content.toString('utf8', endOfHeaders + 2).trimEnd()
}
