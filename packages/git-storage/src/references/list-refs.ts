import { createHash } from 'node:crypto'
import { tooLarge } from '@switchyard/domain'
import { folderOf, type ReferenceKind, shortRefName } from '@switchyard/domain/commit'
import { linesOf, runGitOk } from '../processes/git-process.js'
import { lineSlices } from '../processes/line-slices.js'
import type { Repository } from '../repository.js'

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

const sortKeys = { name: 'refname', updated: 'creatordate', version: 'version:refname' }

const listBytesMax = 32 * 1024 * 1024

/**
 * Lists every branch, or every tag, of a repository, in the given order.
 *
 * @throws DomainError too-large when the names take more than 32 MB
 */
export async function listReferences(
  repository: Repository,
  { kind, order, descending }: ReferenceQuery,
): Promise<Reference[]> {
  const folder = folderOf[kind]
  const sort = `--sort=${descending ? '-' : ''}${sortKeys[order]}`
  const command = { command: 'for-each-ref', flags: [sort, '--format=%(objectname) %(refname)'] }
  const options = { stdoutBytesMax: listBytesMax }
  const { stdout, truncated } = await runGitOk(repository, { ...command, paths: [folder] }, options)
  if (truncated) throw tooManyReferences()
  const references: Reference[] = []
  for await (const slice of lineSlices(stdout)) {
    for (const line of slice.toString().split('\n').filter(Boolean))
      references.push({ target: line.slice(0, 40), name: line.slice(41 + folder.length) })
  }
  return references
}

/** Prefix of hidden references that keep commits from being removed as unreachable. */
export const keptPrefix = 'refs/keep-around/'

/** Flags of git for every reference that clients can see. */
export const everyReference = [`--exclude=${keptPrefix}*`, '--all']

/**
 * Returns a key for answers about every reference. It changes whenever a reference that clients can see is
 * added, moved or removed.
 *
 * @throws DomainError too-large when the references take more than 64 MB
 */
export async function fingerprintOfReferences(repository: Repository): Promise<string> {
  const command = { command: 'for-each-ref', flags: ['--format=%(refname) %(objectname)'] }
  const { stdout, truncated } = await runGitOk(repository, command)
  if (truncated) throw tooManyReferences()
  const hash = createHash('sha256')
  for await (const slice of lineSlices(stdout)) {
    for (const line of linesOf(slice)) if (!line.startsWith(keptPrefix)) hash.update(`${line}\n`)
  }
  return `references ${hash.digest('hex')}`
}

const tooManyReferences = () => tooLarge('The repository has too many references to list')

export const shortNamesIn = (refs: Buffer): string[] =>
  refs.toString().split('\n').filter(Boolean).map(shortRefName)
