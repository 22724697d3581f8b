import { DomainError, excerpt, unprocessable } from '@switchyard/domain'
import { branchRef } from '@switchyard/domain/commit'
import { findCommitId } from '@switchyard/git-storage/commits'
import { readFile } from '@switchyard/git-storage/files'
import type { Repository } from '@switchyard/git-storage/repository'
import strftime from 'strftime'
import { parse } from 'yaml'
import { z } from 'zod'
import { compileRegex } from '../../shapes/name-regex.js'
import { stableNumbersOf } from './notes.js'
import { parseTemplate, type Template } from './template.js'

/** The settings of a project's changelog. */
export interface ChangelogConfig {
  /** Titles by the value of the trailer, in display order. */
  titles: ReadonlyMap<string, string>
  formatDate(date: Date): string
  /** Undefined: the usual layout. */
  template: Template | undefined
  /** Returns major, minor and patch of a stable release by its tag; null for every other tag. */
  versionOf(tag: string): bigint[] | null
}

export const refusal = (reason: string, cause?: unknown) =>
  unprocessable(`Failed to generate the changelog: ${reason}`, { cause })

/** Returns the id of the commit at the end of a range. @throws DomainError unprocessable */
export async function getEnd(repository: Repository, name: string, revision: string): Promise<string> {
  const id = await findCommitId(repository, revision)
  if (id === null) throw refusal(`${name} names no commit: ${excerpt(revision)}`)
  return id
}

const usualConfigFile = '.gitlab/changelog_config.yml'
const configBytesMax = 64 * 1024
const dateFormatCharsMax = 100
/** Most characters of a tag that a regular expression of the configuration may read. */
const tagCharsMax = 255

const configSchema = z.object({
  categories: z.record(z.string(), z.string()).nullish(),
  date_format: z.string().max(dateFormatCharsMax).nullish(),
  template: z.string().nullish(),
  tag_regex: z.string().nullish(),
})

const kinds: Record<string, string> = {
  categories: 'categories of the configuration must be a map of titles',
  date_format: `date_format of the configuration must be a text of ${dateFormatCharsMax} characters at most`,
  template: 'template of the configuration must be a text',
  tag_regex: 'tag_regex of the configuration must be a text',
}

/**
 * Reads the configuration of a changelog; an empty one where the usual file is missing.
 *
 * @param file undefined: the usual file
 * @param ref branch, tag or hash; undefined: the default branch
 * @throws DomainError unprocessable
 */
export async function readConfig(
  repository: Repository,
  { file, ref, defaultBranch }: { file: string | undefined; ref: string | undefined; defaultBranch: string },
): Promise<ChangelogConfig> {
  const commitId = await getEnd(repository, 'config_file_ref', ref ?? branchRef(defaultBranch))
  const content = await readFile(repository, commitId, file ?? usualConfigFile)
  if (!content && file !== undefined) throw refusal(`there is no file ${excerpt(file)}`)
  if (content && content.length > configBytesMax)
    throw refusal(`the configuration has more than ${configBytesMax} bytes`)
  const { data, error } = configSchema.safeParse(content ? parsed(content.toString()) : {})
  if (!data) throw refusal(kinds[String(error.issues[0]?.path[0])] ?? 'the configuration must be a map')
  const { categories, date_format: format, template, tag_regex: regex } = data
  return {
    titles: new Map(Object.entries(categories ?? {})),
    formatDate: (date) =>
      strftime
        .utc()(format ?? '%Y-%m-%d', date)
        .replace(/\p{Cc}/gu, ' '),
    template: template ? readable(() => parseTemplate(template)) : undefined,
    versionOf: regex ? readable(() => versionReader(regex)) : stableNumbersOf,
  }
}

/** @throws DomainError unprocessable for an error in the configuration */
function readable<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    throw refusal(String(error.detail), error)
  }
}

function parsed(text: string): unknown {
  try {
    // The parser compares each key with all keys before it to find equal ones, which may take seconds.
    return parse(text, { logLevel: 'error', uniqueKeys: false }) ?? {}
  } catch (error) {
    throw refusal('the configuration is not YAML', error)
  }
}

/**
 * Returns a function that reads the groups `major`, `minor` and `patch` of a tag. A tag with a group `pre` is
 * not stable.
 */
function versionReader(regex: string): ChangelogConfig['versionOf'] {
  const expression = compileRegex(regex)
  const groups = expression.namedGroups()
  return (tag) => {
    const matcher = expression.matcher(tag)
    if (tag.length > tagCharsMax || !matcher.find()) return null
    const group = (name: string) => (name in groups ? (matcher.group(name) ?? '') : '')
    const numbers = ['major', 'minor', 'patch'].map(group)
    return group('pre') === '' && numbers.every((each) => /^\d+$/.test(each)) ? numbers.map(BigInt) : null
  }
}
