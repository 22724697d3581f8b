import { type FieldProblems, refuseProblems } from './errors.js'
import { isHttpUrl, tooLong } from './texts.js'

/** GitLab's types of links. */
export const releaseLinkTypes = ['other', 'runbook', 'image', 'package'] as const

export const releaseLinksMax = 100

const nameLengthMax = 255
const descriptionLengthMax = 125_000
const urlBytesMax = 2048
const filePathLengthMax = 128

export interface ReleaseTexts {
  name?: string | undefined
  description?: string | null | undefined
}

/** The fields of a link that a client chooses. */
export interface ReleaseLinkFields {
  name: string
  url: string
  /** Path of the link below its release, such as `/bin/app.zip`; null: none. */
  filePath: string | null
  /** One of `releaseLinkTypes`. */
  linkType: string
}

/**
 * Checks the texts of a release.
 *
 * @throws DomainError invalid, with the problems by field
 */
export function validateRelease({ name = '', description }: ReleaseTexts): void {
  const problems: FieldProblems = {
    ...tooLong('name', name, nameLengthMax),
    ...tooLong('description', description ?? '', descriptionLengthMax),
  }
  refuseProblems(problems)
}

/**
 * Checks the fields of a link, and that no other link of its release has its name, its address or its path.
 *
 * @throws DomainError invalid, with the problems by field
 */
export function validateLink(link: ReleaseLinkFields, others: readonly ReleaseLinkFields[]): void {
  const taken = (field: keyof ReleaseLinkFields) =>
    link[field] !== null && others.some((other) => other[field] === link[field])
  const problems: FieldProblems = { ...tooLong('name', link.name, nameLengthMax) }
  if (taken('name')) problems.name = ['has already been taken']
  if (!isLinkUrl(link.url)) problems.url = ['is blocked: Only allowed schemes are http, https, ftp']
  else if (new TextEncoder().encode(link.url).length > urlBytesMax)
    problems.url = [`is too long (maximum is ${urlBytesMax} bytes)`]
  else if (taken('url')) problems.url = ['has already been taken']
  if (link.filePath !== null && !isFilePath(link.filePath)) problems.filepath = ['is in an invalid format']
  else if (taken('filePath')) problems.filepath = ['has already been taken']
  refuseProblems(problems)
}

const isLinkUrl = (text: string) => isHttpUrl(text.replace(/^ftp:/i, 'http:'))

/**
 * Returns whether a text is a file path: letters, digits, `-`, `.`, `_` and `/`. A part `..` or an empty part
 * is refused, because it would name another path in a browser.
 */
function isFilePath(path: string): boolean {
  if (path.length > filePathLengthMax || !/^\/[\w./-]*[a-z\d]$/i.test(path)) return false
  return path
    .slice(1)
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..')
}
