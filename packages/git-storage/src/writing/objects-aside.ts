import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { objectsOf } from '../neutral-repository.js'
import type { OpenRepository } from '../open-repository.js'
import { NewObjects } from './new-objects.js'

/** Where new objects go, and the variables with which git sees them together with all stored objects. */
export interface ObjectsPlace {
  objects: NewObjects
  variables: Record<string, string>
}

/** New objects become objects of the repository. */
export const objectsInside = ({ path }: OpenRepository): ObjectsPlace => ({
  objects: new NewObjects(path),
  variables: objectsOf(path),
})

/**
 * Runs work whose new objects nobody else sees, and which are gone afterwards. If this process is killed, housekeeping
 * recognizes the folder by its name and removes it.
 */
export async function withObjectsAside<Result>(
  { path }: OpenRepository,
  work: (place: ObjectsPlace) => Promise<Result>,
): Promise<Result> {
  const variables = objectsOf(path)
  const stored = variables.GIT_OBJECT_DIRECTORY
  const aside = await mkdtemp(join(stored, 'tmp_objdir-aside-'))
  const objectsPath = join(aside, 'objects')
  try {
    await mkdir(objectsPath)
    return await work({
      objects: new NewObjects(aside),
      variables: {
        ...variables,
        GIT_OBJECT_DIRECTORY: objectsPath,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: stored,
      },
    })
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}
