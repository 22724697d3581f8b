import { excerpt, unprocessable } from '@switchyard/domain'
import { type Commit, titleOf, trailersOf } from '@switchyard/domain/commit'
import { renderTemplate, type Template } from './template.js'

/** Matches `1.2.3`, `1.2.3-rc.1` or `1.2.3+build`, with or without a leading `v`. */
const semanticVersion =
  /^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9a-z-]+(?:\.[0-9a-z-]+)*)?(?:\+[0-9a-z-]+(?:\.[0-9a-z-]+)*)?$/i

export const isVersion = (text: string): boolean => semanticVersion.test(text)

/** Returns major, minor and patch; null for a text that is not a version. */
function numbersOf(version: string): bigint[] | null {
  const found = semanticVersion.exec(version)
  return found?.slice(1, 4).map(BigInt) ?? null
}

const isStable = (version: string) => semanticVersion.exec(version)?.[4] === undefined

/** Returns the numbers of the stable version in the name of a tag; null for every other tag. */
export const stableNumbersOf = (tag: string): bigint[] | null => (isStable(tag) ? numbersOf(tag) : null)

/** Returns the tag of the highest stable version below a version; null when there is none. */
export function findPreviousTag(
  tags: readonly string[],
  version: string,
  versionOf: (tag: string) => bigint[] | null = stableNumbersOf,
): string | null {
  const below = numbersOf(version)
  let previous: { tag: string; numbers: bigint[] } | null = null
  for (const tag of tags) {
    const numbers = versionOf(tag)
    if (!numbers || !below || !isLess(numbers, below)) continue
    if (!previous || isLess(previous.numbers, numbers)) previous = { tag, numbers }
  }
  return previous?.tag ?? null
}

function isLess(a: readonly bigint[], b: readonly bigint[]): boolean {
  const at = a.findIndex((number, index) => number !== b[index])
  return at !== -1 && (a[at] ?? 0n) < (b[at] ?? 0n)
}

/** The text before the id of the reverted commit in the message of a reverting commit. */
export const revertText = 'This reverts commit '

/**
 * Lists the commits that have a trailer, each with its value. Reverted commits are left out; reverting
 * commits are left out, too, unless they have the trailer themselves.
 *
 * @param commits each commit comes before its parents
 */
export function listEntries(
  commits: readonly Commit[],
  trailer: string,
): { commit: Commit; value: string }[] {
  const reverted = new Set<string>()
  return commits.flatMap((commit) => {
    if (reverted.has(commit.id)) return []
    const [, id] = /This reverts commit ([0-9a-f]{40})/i.exec(commit.message) ?? []
    if (id !== undefined) reverted.add(id.toLowerCase())
    const value = trailerValue(commit, trailer)
    return value ? [{ commit, value }] : []
  })
}

const trailerValue = ({ message }: Commit, trailer: string) =>
  Object.entries(trailersOf(message)).findLast(([key]) => key.toLowerCase() === trailer.toLowerCase())?.[1]

interface Section {
  version: string
  /** The date in its display format. */
  date: string
  entries: readonly { commit: Commit; value: string }[]
  /** Titles by the value of the trailer, in display order. */
  titles: ReadonlyMap<string, string>
  /** Undefined: the usual layout. */
  template?: Template | undefined
  /** Returns the address of the page of a commit. */
  addressOf: (commit: Commit) => string
  /** Returns the name of a commit in texts. Unset: its address. */
  referenceOf?: (commit: Commit) => string
}

/**
 * Returns the section of a version, as Markdown that ends with a line break.
 *
 * @throws DomainError unprocessable for a section that is too large
 */
export function formatSection(section: Section): string {
  const heading = `## ${section.version} (${section.date})\n\n`
  const categories = categoriesOf(section)
  if (section.template) return `${heading}${renderTemplate(section.template, { categories }).trim()}\n`
  if (categories.length === 0) return `${heading}No changes.\n`
  const shown = categories.map(({ title, count, entries }) => {
    const lines = entries.map((entry) => `- [${entry.title}](${entry.commit.web_url})\n`)
    return `${categoryHeading(title, count)}${lines.join('')}`
  })
  return heading + shown.join('\n')
}

/** Returns the data that templates read. */
function categoriesOf({ entries, titles, addressOf, referenceOf = addressOf }: Section) {
  const byTitle = new Map<string, ReturnType<typeof shownEntry>[]>()
  for (const title of titles.values()) byTitle.set(title, [])
  const shownEntry = (commit: Commit) => ({
    title: escaped(excerpt(titleOf(commit.message))),
    commit: {
      reference: referenceOf(commit),
      web_url: addressOf(commit),
      trailers: Object.fromEntries(
        Object.entries(trailersOf(commit.message)).map(([name, text]) => [name, escaped(excerpt(text))]),
      ),
    },
  })
  for (const { commit, value } of entries) {
    const title = titles.get(value) ?? escaped(excerpt(value))
    const shown = byTitle.get(title) ?? []
    shown.push(shownEntry(commit))
    byTitle.set(title, shown)
  }
  return [...byTitle]
    .filter(([, shown]) => shown.length > 0)
    .map(([title, shown]) => ({
      title,
      count: shown.length,
      single_change: shown.length === 1,
      entries: shown,
    }))
}

const categoryHeading = (title: string, count: number) =>
  `### ${title} (${count} ${count === 1 ? 'change' : 'changes'})\n\n`

/** Escapes text of a commit so that Markdown shows it as plain text on one line, even inside a link. */
const escaped = (text: string) => text.replace(/\p{Cc}/gu, ' ').replace(/[\\[\]<]/g, '\\$&')

/** The heading of a section begins with its version. */
const sectionHeading = /^## +\[?(v?\d+\.\d+\.\d+[\w.+-]*)/gm

/**
 * Inserts a section into a file, above the sections of other versions and below the text before them.
 *
 * @throws DomainError unprocessable when the file has a section of the version
 */
export function addSection(text: string, version: string, section: string): string {
  const plain = (name: string) => name.replace(/^v/, '')
  let at: number | null = null
  for (const { index, 1: name = '' } of text.matchAll(sectionHeading)) {
    if (plain(name) === plain(version)) {
      throw unprocessable(`The file has a section for ${excerpt(version)} already`)
    }
    at ??= index
  }
  const above = text.slice(0, at ?? text.length).trimEnd()
  const below = at === null ? '' : text.slice(at)
  return `${above && `${above}\n\n`}${section}${below && `\n${below}`}`
}
