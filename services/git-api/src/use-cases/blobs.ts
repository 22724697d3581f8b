import { notFound, tooLarge } from '@switchyard/domain'
import { isFullHash } from '@switchyard/domain/commit'
import type { StoredBlob } from '@switchyard/git-storage'
import type { ProjectCall } from '../guards.js'
import { contentBytesMax, openContent, type RawContent } from './files.js'

/** A blob and its bytes. @throws DomainError not-found; too-large for more than 32 MB */
export async function readBlob(
  { repository }: ProjectCall,
  id: string,
): Promise<{ blob: StoredBlob; content: Buffer }> {
  const blob = await getBlob({ repository }, id)
  if (blob.size > contentBytesMax) {
    throw tooLarge('The blob is too large for this answer; ask for its raw content')
  }
  return { blob, content: await repository.readBlob(blob) }
}

/** @throws DomainError not-found; rate-limited when too many large files are read for the sender */
export const openRawBlob = async (access: ProjectCall, id: string): Promise<RawContent> =>
  openContent(access, await getBlob(access, id))

async function getBlob({ repository }: Pick<ProjectCall, 'repository'>, id: string): Promise<StoredBlob> {
  const hash = id.toLowerCase()
  const blob = isFullHash(hash) ? await repository.findBlob(hash) : null
  if (!blob) throw notFound('Blob')
  return blob
}
