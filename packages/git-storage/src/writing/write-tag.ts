import { formatTagObject, type NewTagObject } from '@switchyard/domain/commit'
import type { OpenRepository } from '../open-repository.js'
import { NewObjects } from './new-objects.js'

/** Stores the object of an annotated tag. @returns its id, which no reference points to yet */
export async function writeTag({ path, takeSpace }: OpenRepository, tag: NewTagObject): Promise<string> {
  const objects = new NewObjects(path, takeSpace)
  const id = await objects.add('tag', formatTagObject(tag))
  await objects.store()
  return id
}
