import { type AnswerForm, errorText } from '@switchyard/service-kit/http'
import type { LfsObjectState } from './lfs.js'
import type { LfsLockWithOwner } from './store.js'

/** Seconds after which a client asks for new addresses. */
const expiresIn = 3600

/**
 * Answers of the Git LFS API (docs/api of git-lfs): errors have one text, 422 is for unreadable requests, and
 * a 401 names the scheme in a header to which no browser reacts.
 */
export const lfsAnswers: AnswerForm = {
  mediaType: 'application/vnd.git-lfs+json',
  presentError({ status, body, headers }) {
    const { error: _error, error_description: _description, scope: _scope, message, ...further } = body
    return {
      status: status === 400 && message === undefined ? 422 : status,
      body: {
        message: errorText(body)
          .replace(/^403 Forbidden - /, '')
          .replace(/^404 Not found$/, 'Not found.'),
        ...further,
      },
      headers: { ...headers, ...(status === 401 && { 'LFS-Authenticate': 'Basic realm="Git LFS"' }) },
    }
  },
}

interface LfsBatch {
  operation: 'upload' | 'download'
  objects: readonly ({ oid: string; size: number } & LfsObjectState)[]
  /** Address of the repository, which ends in `.git`. */
  repositoryUrl: string
  /** Headers that authenticate the sender. The client sends them to the addresses in the answer. */
  credentials: Record<string, string>
}

/** Returns the addresses for transferring objects. */
export const presentLfsBatch = ({ objects, ...batch }: LfsBatch) => ({
  transfer: 'basic',
  objects: objects.map(({ oid, size, ...described }) => ({
    oid,
    size,
    authenticated: true,
    ...nextStep({ oid, size }, described, batch),
  })),
  hash_algo: 'sha256',
})

function nextStep(
  { oid, size }: { oid: string; size: number },
  described: LfsObjectState,
  { operation, repositoryUrl, credentials }: Omit<LfsBatch, 'objects'>,
) {
  if (described.state === 'refused') return { error: { code: 422, message: described.reason } }
  const isStored = described.state === 'stored'
  const action = (path: string) => ({
    href: `${repositoryUrl}${path}`,
    header: credentials,
    expires_in: expiresIn,
  })
  const address = `/gitlab-lfs/objects/${oid}`
  if (operation === 'download') {
    return isStored
      ? { actions: { download: action(address) } }
      : { error: { code: 404, message: 'Object does not exist' } }
  }
  if (isStored) return {}
  return { actions: { upload: action(`${address}/${size}`), verify: action('/info/lfs/objects/verify') } }
}

export const presentLfsLock = ({ id, path, lockedAt, owner }: LfsLockWithOwner) => ({
  id: String(id),
  path,
  locked_at: `${lockedAt.toISOString().slice(0, 19)}Z`,
  owner: { name: owner.username },
})

/** Returns the field that leads to the next page; none on the last page. */
export const presentCursor = (next: number | null) => (next === null ? {} : { next_cursor: String(next) })
