import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * Path of an empty repository. Commands that merge or convert files run in it with the objects of another
 * repository, because the configuration of that repository could name programs to run.
 */
export const neutralRepository = dirname(
  createRequire(import.meta.url).resolve('@switchyard/git-storage/neutral/HEAD'),
)

/** Returns variables that make git use the objects and the shallow file of a repository. */
export const objectsOf = (path: string) => ({
  GIT_OBJECT_DIRECTORY: join(path, 'objects'),
  GIT_SHALLOW_FILE: join(path, 'shallow'),
})
