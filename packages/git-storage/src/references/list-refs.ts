import { tooLarge } from '@switchyard/domain'
import { readableText } from '@switchyard/domain/commit'
import { linesOf, runGitOk } from '../processes/git-process.js'
import type { Repository } from '../repository.js'
import { findRefs, tooManyReferences } from './find-refs.js'

export type ReferenceKind = 'branch' | 'tag'

/** A branch or a tag. */
export interface Reference {
  /** Name without `refs/heads/` or `refs/tags/`. */
  name: string
  /** Id of the object that the reference points to: a commit, or the object of an annotated tag. */
  target: string
}

export interface ReferenceQuery {
  kind: ReferenceKind
  /**
   * `updated`: by the date of an annotated tag, else of the commit; `version`: `v1.10` comes after `v1.9`.
   */
  order: 'name' | 'updated' | 'version'
  descending: boolean
}

/** The message and the date of an annotated tag. */
export interface TagAnnotation {
  message: string
  /** Seconds since 1970; null when the tag has no date. */
  taggedSeconds: number | null
}

const folders: Record<ReferenceKind, string> = { branch: 'refs/heads/', tag: 'refs/tags/' }
const sortKeys = { name: 'refname', updated: 'creatordate', version: 'version:refname' }

const listBytesMax = 32 * 1024 * 1024
/** Most bytes of the annotations of one page of tags. */
const annotationBytesMax = 16 * 1024 * 1024

/** Returns the full name of a branch or tag: `refs/heads/main`. */
export const fullName = (kind: ReferenceKind, name: string): string => folders[kind] + name

/**
 * Lists every branch, or every tag, of a repository, in the given order.
 *
 * @throws DomainError too-large when the names take more than 32 MB
 */
export async function listReferences(
  repository: Repository,
  { kind, order, descending }: ReferenceQuery,
): Promise<Reference[]> {
  const folder = folders[kind]
  const sort = `--sort=${descending ? '-' : ''}${sortKeys[order]}`
  const command = { command: 'for-each-ref', flags: [sort, '--format=%(objectname) %(refname)'] }
  const options = { stdoutBytesMax: listBytesMax }
  const { stdout, truncated } = await runGitOk(repository, { ...command, paths: [folder] }, options)
  if (truncated) throw tooManyReferences()
  return stdout
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => ({ target: line.slice(0, 40), name: line.slice(41 + folder.length) }))
}

/**
 * Finds the object that a tag points to; null when there is no such tag.
 *
 * @param tag a valid name
 */
export async function findTagTarget(repository: Repository, tag: string): Promise<string | null> {
  const ref = fullName('tag', tag)
  return (await findRefs(repository, [ref])).get(ref) ?? null
}

/** Approximate memory of an answer about two commits, with its key. */
const mergedBytes = 200

/**
 * Returns those of the given branches whose newest commit is the given commit or one of its ancestors.
 * Commits never change, so known answers about two commits stay true. git is asked about the other branches
 * in one question.
 */
export async function findMerged(
  repository: Repository,
  branches: readonly Reference[],
  commitId: string,
): Promise<Set<string>> {
  const { path, engine } = repository
  const keyOf = (target: string) => `merged ${target} ${commitId}`
  const known = new Map<string, boolean>()
  for (const { target } of branches) {
    const answer = engine.cache.get<{ isMerged: boolean }>(path, keyOf(target))
    if (answer) known.set(target, answer.isMerged)
  }
  const unknown = branches.filter(({ target }) => !known.has(target))
  for (const isMerged of unknown.length === 0 ? [] : [true, false]) {
    for (const target of await readTips(repository, unknown, isMerged ? 'merged' : 'no-merged', commitId)) {
      known.set(target, isMerged)
      engine.cache.set(path, keyOf(target), { isMerged }, mergedBytes)
    }
  }
  // A branch that has moved meanwhile is in neither answer, and does not count as merged.
  return new Set(branches.filter(({ target }) => known.get(target)).map(({ name }) => name))
}

/** Returns the newest commits of those branches that are merged into a commit, or of those that are not. */
async function readTips(
  repository: Repository,
  branches: readonly Reference[],
  state: 'merged' | 'no-merged',
  commitId: string,
): Promise<string[]> {
  const names = branches.map(({ name }) => fullName('branch', name))
  const flags = [`--${state}=${commitId}`, '--format=%(objectname)']
  // A command line holds a limited number of names. For more, git lists all branches.
  const paths = names.length > 1000 ? [folders.branch] : names
  return linesOf((await runGitOk(repository, { command: 'for-each-ref', flags, paths })).stdout)
}

const fromLatin1 = (text: string) => readableText(Buffer.from(text, 'latin1'))

/**
 * Reads the annotations of tags by name. A lightweight tag has none and is left out.
 *
 * @throws DomainError too-large when their annotations take more than 16 MB together
 */
export async function readAnnotations(
  repository: Repository,
  tags: readonly string[],
): Promise<Map<string, TagAnnotation>> {
  if (tags.length === 0) return new Map()
  const format = ['%(refname)', '%(objecttype)', '%(taggerdate:unix)', '%(contents)', ''].join('%00')
  const { stdout, truncated } = await runGitOk(
    repository,
    {
      command: 'for-each-ref',
      flags: [`--format=${format}`],
      paths: tags.map((tag) => fullName('tag', tag)),
    },
    { stdoutBytesMax: annotationBytesMax },
  )
  if (truncated) throw tooLarge('The messages of these tags are too long')
  const fields = stdout.toString('latin1').split('\0').map(fromLatin1)
  const annotations = new Map<string, TagAnnotation>()
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [refName = '', type, seconds = '', message = ''] = fields.slice(at, at + 4)
    if (type !== 'tag') continue
    const name = refName.trimStart().slice(folders.tag.length)
    annotations.set(name, { message, taggedSeconds: seconds === '' ? null : Number(seconds) })
  }
  return annotations
}
