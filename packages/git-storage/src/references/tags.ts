import { tooLarge } from '@switchyard/domain'
import {
  formatTagObject,
  type NewTagObject,
  readableText,
  shortRefName,
  tagRef,
} from '@switchyard/domain/commit'
import { NewObjects } from '../objects/new-objects.js'
import { readObject } from '../objects/object-reader.js'
import { runGitOk } from '../processes/git-process.js'
import type { Repository } from '../repository.js'

/**
 * Reads the text of an annotated tag, without blank space at its end; null for another object.
 *
 * @param id of an object
 */
export async function readTagMessage(repository: Repository, id: string): Promise<string | null> {
  const object = await readObject(repository, id)
  if (object?.type !== 'tag') return null
  const endOfHeaders = object.content.indexOf('\n\n')
  return endOfHeaders === -1 ? '' : object.content.toString('utf8', endOfHeaders + 2).trimEnd()
}

/**
 * Stores the object of an annotated tag.
 *
 * @returns its id, which no reference points to yet
 */
export async function writeTag({ path, takeSpace }: Repository, tag: NewTagObject): Promise<string> {
  const objects = new NewObjects(path, takeSpace)
  const id = await objects.add('tag', formatTagObject(tag))
  await objects.store()
  return id
}

/** The message and the date of an annotated tag. */
export interface TagAnnotation {
  message: string
  /** Seconds since 1970; null when the tag has no date. */
  taggedSeconds: number | null
}

/** Most bytes of the annotations in a page of tags. */
const annotationBytesMax = 16 * 1024 * 1024

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
      paths: tags.map(tagRef),
    },
    { stdoutBytesMax: annotationBytesMax },
  )
  if (truncated) throw tooLarge('The messages of these tags are too long')
  const fields = stdout.toString('latin1').split('\0').map(fromLatin1)
  const annotations = new Map<string, TagAnnotation>()
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [refName = '', type, seconds = '', message = ''] = fields.slice(at, at + 4)
    if (type !== 'tag') continue
    const name = shortRefName(refName.trimStart())
    annotations.set(name, { message, taggedSeconds: seconds === '' ? null : Number(seconds) })
  }
  return annotations
}
