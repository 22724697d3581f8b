import { isUtf8 } from 'node:buffer'
import { excerpt, unprocessable } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import type { Commit } from '@switchyard/domain/commit'
import { listMentions } from '@switchyard/git-storage/commit-range'
import { findBranchTip } from '@switchyard/git-storage/find-refs'
import { isTooHard } from '@switchyard/git-storage/git-process'
import { fullName, listReferences } from '@switchyard/git-storage/list-refs'
import { findCommitId } from '@switchyard/git-storage/read-commits'
import { readFile } from '@switchyard/git-storage/read-file'
import { findLastCommitOf } from '@switchyard/git-storage/read-last-commit'
import type { Repository } from '@switchyard/git-storage/repository'
import type { Call } from '@switchyard/service-kit/http'
import { parse } from 'yaml'
import { z } from 'zod'
import type { CommitDescription } from '../commits/commits.js'
import { commitFile, type FileDependencies } from '../files/files.js'
import type { ProjectCall } from '../guards.js'
import { addSection, findEntries, findPreviousTag, formatSection, revertText } from './notes.js'

export interface NotesQuery {
  version: string
  /** Branch, tag or hash, which the notes do not include. Undefined: the tag of the last stable version below. */
  from: string | undefined
  /** Branch, tag or hash, which they include. Undefined: the default branch. */
  to: string | undefined
  /** Undefined: today. */
  date: Date | undefined
  trailer: string
  /** Undefined: the usual file, which may be missing. */
  configFile: string | undefined
  /** Where the configuration is read. Undefined: the default branch. */
  configRef: string | undefined
}

/** Most commits with the trailer, or with a revert, in one range. */
const commitsMax = 10_000

/**
 * What changed in a version, by the trailers of commits. Without a tag of an earlier version, the range is the whole history.
 *
 * @throws DomainError unprocessable for a revision that names no commit, a configuration that is missing or malformed, and a
 *   range that is too large
 */
export async function writeNotes(
  { project, repository }: ProjectCall,
  { version, date, trailer, ...query }: NotesQuery,
  { baseUrl }: Pick<Call, 'baseUrl'>,
): Promise<string> {
  const defaultBranch = fullName('branch', project.defaultBranch)
  const to = await getEnd(repository, 'to', query.to ?? defaultBranch)
  const start = query.from ?? (await findPreviousRelease(repository, version))
  const from = start === null ? null : await getEnd(repository, 'from', start)
  const titles = await readTitles(repository, query, defaultBranch)
  const commits = await listRange(repository, { from, to }, trailer)
  return formatSection({
    version,
    date: date ?? new Date(),
    entries: findEntries(commits, trailer),
    titles,
    addressOf: ({ id }) => `${baseUrl}/${project.pathWithNamespace}/-/commit/${id}`,
  })
}

const refusal = (reason: string, cause?: unknown) =>
  unprocessable(`Failed to generate the changelog: ${reason}`, { cause })

async function getEnd(repository: Repository, name: string, revision: string): Promise<string> {
  const id = await findCommitId(repository, revision)
  if (id === null) throw refusal(`${name} names no commit: ${excerpt(revision)}`)
  return id
}

async function findPreviousRelease(repository: Repository, version: string): Promise<string | null> {
  const tags = await listReferences(repository, { kind: 'tag', order: 'name', descending: false })
  const names = tags.map(({ name }) => name)
  const tag = findPreviousTag(names, version)
  return tag && fullName('tag', tag)
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

const usualConfigFile = '.gitlab/changelog_config.yml'
const configBytesMax = 64 * 1024

const configSchema = z.object({ categories: z.record(z.string(), z.string()).nullish() })

/** The titles of categories that the configuration has. */
async function readTitles(
  repository: Repository,
  { configFile, configRef }: Pick<NotesQuery, 'configFile' | 'configRef'>,
  defaultBranch: string,
): Promise<Map<string, string>> {
  const commitId = await getEnd(repository, 'config_file_ref', configRef ?? defaultBranch)
  const content = await readFile(repository, commitId, configFile ?? usualConfigFile)
  if (!content && configFile === undefined) return new Map()
  if (!content) throw refusal(`there is no file ${excerpt(configFile ?? '')}`)
  if (content.length > configBytesMax)
    throw refusal(`the configuration has more than ${configBytesMax} bytes`)
  const { data } = configSchema.safeParse(parsed(content.toString()))
  if (!data) throw refusal('categories of the configuration must be a map of titles')
  return new Map(Object.entries(data.categories ?? {}))
}

function parsed(text: string): unknown {
  try {
    return parse(text, { logLevel: 'error' }) ?? {}
  } catch (error) {
    throw refusal('the configuration is not YAML', error)
  }
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
 * @throws DomainError as {@link writeNotes}; unprocessable when the file has a section of the version or is no text; as
 *   {@link commitFile}
 */
export async function commitNotes(
  deps: FileDependencies,
  access: ProjectCall<Caller>,
  { branch, file, message, ...query }: ChangelogCommand,
  call: Call,
): Promise<CommitDescription> {
  const { repository } = access
  const notes = await writeNotes(access, { ...query, to: query.to ?? fullName('branch', branch) }, call)
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
    // Another section that is added meanwhile must not be lost.
    last_commit_id: lastCommitId ?? undefined,
  }
  return commitFile(deps, access, { branch, message, action }, call)
}
