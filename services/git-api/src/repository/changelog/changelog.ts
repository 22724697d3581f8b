import { isUtf8 } from 'node:buffer'
import { excerpt } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { branchRef, type Commit, defaultBranchRef, tagRef } from '@switchyard/domain/commit'
import { findLastCommitOf, listMentions } from '@switchyard/git-storage/commits'
import { readFile } from '@switchyard/git-storage/files'
import { isTooHard } from '@switchyard/git-storage/processes'
import { findBranchTip, listReferences } from '@switchyard/git-storage/references'
import type { Repository } from '@switchyard/git-storage/repository'
import type { Call } from '@switchyard/service-kit/http'
import type { ProjectCall } from '../../guards.js'
import { visitInSlices } from '../../shapes/name-regex.js'
import type { CommitDescription } from '../commits/commits.js'
import { commitFile, type FileDependencies } from '../files/files.js'
import { type ChangelogConfig, getEnd, readConfig, refusal } from './config.js'
import { addSection, findPreviousTag, formatSection, listEntries, revertText } from './notes.js'

export interface NotesQuery {
  version: string
  /** Branch, tag or hash, exclusive. Undefined: the tag of the highest stable version below this one. */
  from: string | undefined
  /** Branch, tag or hash, inclusive. Undefined: the default branch. */
  to: string | undefined
  /** Undefined: today. */
  date: Date | undefined
  trailer: string
  /** Undefined: the usual file, which need not exist. */
  configFile: string | undefined
  /** The branch, tag or hash with the configuration. Undefined: the default branch. */
  configRef: string | undefined
}

/** Most commits with the trailer, or with a revert, in one range. */
const commitsMax = 10_000

/**
 * Writes the notes of a version from the trailers of commits. Without a tag of an earlier version, the range
 * is the whole history.
 *
 * @throws DomainError unprocessable for a revision that names no commit, a configuration that is missing or
 *   malformed, and a range that is too large
 */
export async function writeNotes(
  { project, repository }: ProjectCall,
  { version, date, trailer, ...query }: NotesQuery,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<string> {
  const defaultBranch = defaultBranchRef(project)
  const to = await getEnd(repository, 'to', query.to ?? defaultBranch)
  const config = await readConfig(repository, {
    file: query.configFile,
    ref: query.configRef,
    defaultBranch: project.defaultBranch,
  })
  const start = query.from ?? (await findPreviousRelease(repository, version, config))
  const from = start === null ? null : await getEnd(repository, 'from', start)
  const commits = await listRange(repository, { from, to }, trailer)
  return formatSection({
    version,
    date: config.formatDate(date ?? new Date()),
    entries: listEntries(commits, trailer),
    titles: config.titles,
    template: config.template,
    addressOf: ({ id }) => `${baseUrl}/${project.pathWithNamespace}/-/commit/${id}`,
    referenceOf: ({ id }) => `${project.pathWithNamespace}@${id}`,
  })
}

async function findPreviousRelease(
  repository: Repository,
  version: string,
  { versionOf }: ChangelogConfig,
): Promise<string | null> {
  const tags = await listReferences(repository, { kind: 'tag', order: 'name', descending: false })
  const names = tags.map(({ name }) => name)
  const versions = new Map<string, bigint[] | null>()
  await visitInSlices(names, (name) => versions.set(name, versionOf(name)))
  const tag = findPreviousTag(names, version, (name) => versions.get(name) ?? null)
  return tag && tagRef(tag)
}

async function listRange(
  repository: Repository,
  range: { from: string | null; to: string },
  trailer: string,
): Promise<Commit[]> {
  const texts = [trailer, revertText]
  try {
    const commits = await listMentions(repository, { ...range, texts, take: commitsMax + 1 })
    if (commits.length <= commitsMax) return commits
  } catch (error) {
    if (!isTooHard(error)) throw error
    throw refusal('the range is too large', error)
  }
  throw refusal(`the range has more than ${commitsMax} changes`)
}

const fileBytesMax = 4 * 1024 * 1024

interface ChangelogCommand extends NotesQuery {
  branch: string
  file: string
  message: string
}

/**
 * Commits the notes of a version to a file, as its first section.
 *
 * @throws DomainError as {@link writeNotes}; unprocessable when the file has a section of the version or is
 *   not a text; as {@link commitFile}
 */
export async function commitNotes(
  deps: FileDependencies,
  access: ProjectCall<Caller>,
  { branch, file, message, ...query }: ChangelogCommand,
  call: Call,
): Promise<CommitDescription> {
  const { repository } = access
  const notes = await writeNotes(access, { ...query, to: query.to ?? branchRef(branch) }, call)
  const tip = await findBranchTip(repository, branch)
  const existing = tip === null ? null : await readFile(repository, tip, file)
  if (existing && existing.length > fileBytesMax) throw refusal(`${excerpt(file)} is too large`)
  if (existing && !isUtf8(existing)) throw refusal(`${excerpt(file)} is not a text in UTF-8`)
  const content = addSection(existing?.toString() ?? '', query.version, notes)
  const lastCommitId = tip && existing && (await findLastCommitOf(repository, tip, file.replace(/^\/+/, '')))
  const action = {
    action: existing ? ('update' as const) : ('create' as const),
    file_path: file,
    content,
    encoding: 'text' as const,
    // The commit fails if the file changes meanwhile, so that no other new section is lost.
    last_commit_id: lastCommitId ?? undefined,
  }
  return commitFile(deps, access, { branch, message, action }, call)
}
