import { branchesFolder, branchRef, parseRevision, tagRef, tagsFolder } from '@switchyard/domain/commit'
import { objectChild } from '../processes/child-kinds.js'
import { findRefs } from '../references/find-refs.js'
import type { Repository } from '../repository.js'

const headNames = ['HEAD', '@']
/** git requires at least four digits of an abbreviated hash. */
const abbreviatedHash = /^[0-9a-f]{4,40}$/

/**
 * Resolves a revision to a full hash and the steps after it (`~2`, `^`), which git resolves without searching
 * references. git itself prefers a tag to a branch of the same name and completes partial names. Here a
 * branch comes first, then a tag, then an abbreviated hash; a full name has to be the name of a branch or
 * tag. So a new tag or another reference never changes the meaning of a branch name.
 *
 * @returns null when the revision is malformed or names no object
 */
export async function resolveRevision(repository: Repository, revision: string): Promise<string | null> {
  const parsed = parseRevision(revision)
  if (!parsed) return null
  const id = await findNamedObject(repository, parsed.name)
  return id === null ? null : id + parsed.steps
}

async function findNamedObject(repository: Repository, name: string): Promise<string | null> {
  if (headNames.includes(name)) return askForId(repository, 'HEAD')
  const hash = name.toLowerCase()
  const mayBeHash = abbreviatedHash.test(hash)
  if (mayBeHash && hash.length === 40) return hash
  const refs = name.startsWith('refs/')
    ? [branchesFolder, tagsFolder].some((prefix) => name.startsWith(prefix))
      ? [name]
      : []
    : [branchRef(name), tagRef(name)]
  const found = await findRefs(repository, refs)
  const id = refs.map((ref) => found.get(ref)).find((target) => target !== undefined)
  return id ?? (mayBeHash ? findByAbbreviation(repository, hash) : null)
}

/** Finds a commit by its abbreviated hash. git also finds a reference of that name, which is ignored here. */
async function findByAbbreviation(repository: Repository, hash: string): Promise<string | null> {
  const id = await askForId(repository, `${hash}^{commit}`)
  return id?.startsWith(hash) ? id : null
}

/**
 * Asks git for the id of a name.
 *
 * @param name validated text without a line break
 */
async function askForId(repository: Repository, name: string): Promise<string | null> {
  const question = { input: `info ${name}\n`, answerBytesMax: 4096, timeoutMs: 60_000 }
  const { bytes } = await repository.engine.children.ask(repository, objectChild, question)
  return /^([0-9a-f]{40}) commit \d+\n$/.exec(bytes.toString('latin1'))?.[1] ?? null
}
