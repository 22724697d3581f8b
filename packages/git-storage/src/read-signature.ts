import { readObject } from './object-reader.js'
import type { OpenRepository } from './open-repository.js'

/** The header of a signature ends at the next line that does not begin with a blank. */
const signature = /^gpgsig (.*(?:\n .*)*)/m

/** The signature of a commit, as its header has it; null when it has none. @param commitId id of a commit */
export async function readSignatureText(
  repository: OpenRepository,
  commitId: string,
): Promise<string | null> {
  const object = await readObject(repository, commitId)
  if (object?.type !== 'commit') return null
  const [headers = ''] = object.content.toString('latin1').split('\n\n', 1)
  return signature.exec(headers)?.[1]?.replaceAll('\n ', '\n') ?? null
}
