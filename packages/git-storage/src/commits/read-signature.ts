import { readObject } from '../objects/object-reader.js'
import type { Repository } from '../repository.js'

/** The header of a signature ends at the next line that does not begin with a blank. */
const signature = /^gpgsig (.*(?:\n .*)*)/m

/** The signature of a tag follows its message. */
const trailingSignature = /^-----BEGIN (?:PGP|SSH|SIGNED) .*/ms

/**
 * Reads the signature in the header of a commit, or after the message of an annotated tag; null for an object
 * without one.
 *
 * @param id the id of a commit or a tag
 */
export async function readSignatureText(repository: Repository, id: string): Promise<string | null> {
  const object = await readObject(repository, id)
  if (object?.type !== 'commit' && object?.type !== 'tag') return null
  const content = object.content.toString('latin1')
  const endOfHeaders = content.indexOf('\n\n')
  if (object.type === 'tag') return trailingSignature.exec(content.slice(endOfHeaders))?.[0] ?? null
  return signature.exec(content.slice(0, endOfHeaders))?.[1]?.replaceAll('\n ', '\n') ?? null
}
