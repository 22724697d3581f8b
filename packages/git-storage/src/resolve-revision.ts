import { parseRevision } from '@switchyard/domain/commit'
import { objectChild } from './children/child-kinds.js'
import type { OpenRepository } from './open-repository.js'
import { branchRef, findRefs } from './refs.js'

const headNames = ['HEAD', '@']
const fullNamePrefixes = ['refs/heads/', 'refs/tags/']
/** Git knows no shorter beginning of a hash. */
const hashBeginning = /^[0-9a-f]{4,40}$/

/**
 * The object that a revision names, as a full hash and the steps behind it (`~2`, `^`): text that git reads without
 * looking at a reference. Git itself prefers a tag to a branch of the same name and finds references by parts of their
 * names. Here a branch comes first, then a tag, then the beginning of a hash; a full name must be that of a branch or a
 * tag. So nobody who may create a tag or another reference gives a branch's name another meaning.
 *
 * @returns null when the revision names nothing, or is no revision
 */
export async function resolveRevision(repository: OpenRepository, revision: string): Promise<string | null> {
  const parsed = parseRevision(revision)
  if (!parsed) return null
  const id = await findNamedObject(repository, parsed.name)
  return id === null ? null : id + parsed.steps
}

async function findNamedObject(repository: OpenRepository, name: string): Promise<string | null> {
  if (headNames.includes(name)) return findHead(repository)
  const hash = name.toLowerCase()
  const mayBeHash = hashBeginning.test(hash)
  if (mayBeHash && hash.length === 40) return hash
  const refs = name.startsWith('refs/')
    ? fullNamePrefixes.some((prefix) => name.startsWith(prefix))
      ? [name]
      : []
    : [branchRef(name), `refs/tags/${name}`]
  const found = await findRefs(repository, refs)
  const id = refs.map((ref) => found.get(ref)).find((target) => target !== undefined)
  return id ?? (mayBeHash ? findByBeginning(repository, hash) : null)
}

async function findHead(repository: OpenRepository): Promise<string | null> {
  const known = await repository.engine.local.open(repository.path).findRef('HEAD')
  return known === undefined ? askForId(repository, 'HEAD') : known
}

/** The commit whose hash begins so. Git also finds other references of that name; those are not answered. */
async function findByBeginning(repository: OpenRepository, beginning: string): Promise<string | null> {
  const id = await askForId(repository, `${beginning}^{commit}`)
  return id?.startsWith(beginning) ? id : null
}

/** @param name checked text, on one line */
async function askForId({ path, engine, signal }: OpenRepository, name: string): Promise<string | null> {
  const question = { input: `info ${name}\n`, answerBytesMax: 4096, timeoutMs: 60_000 }
  const { bytes } = await engine.children.ask(path, objectChild, question, { signal })
  return /^([0-9a-f]{40}) commit \d+\n$/.exec(bytes.toString('latin1'))?.[1] ?? null
}
