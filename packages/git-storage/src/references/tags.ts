import { formatTagObject, type NewTagObject } from '@switchyard/domain/commit'
import { NewObjects } from '../objects/new-objects.js'
import { readObject } from '../objects/object-reader.js'
import type { Repository } from '../repository.js'

/**
 * Reads the text of an annotated tag, without blank space at its end; null for another object.
 *
 * @param id of an object
 */
export async function readTagMessage(repository: Repository, id: string): Promise<string | null> {
  const object = await readObject(repository, id)
  if (object?.type !== 'tag') return null
  const endOfHeaders = object.content.indexOf('\n\n')
  return endOfHeaders === -1 ? '' : object.content.toString('utf8', endOfHeaders + 2).trimEnd()
}

/**
 * Stores the object of an annotated tag.
 *
 * @returns its id, which no reference points to yet
 */
export async function writeTag({ path, takeSpace }: Repository, tag: NewTagObject): Promise<string> {
  const objects = new NewObjects(path, takeSpace)
  const id = await objects.add('tag', formatTagObject(tag))
  await objects.store()
  return id
}
