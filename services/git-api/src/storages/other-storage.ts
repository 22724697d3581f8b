import { unavailable } from '@switchyard/domain'
import type { LfsObject } from '@switchyard/domain/commit'
import { z } from 'zod'

/** Time limit for answers that are not streams. */
const answerMsMax = 15_000

const objects = z.array(z.object({ oid: z.string(), size: z.int() }))
const emptiness = z.object({ empty: z.array(z.int()) })

/** Requests to the git-api of another storage about its repositories; see between-storages-routes.ts. */
export interface OtherStorage {
  /**
   * Returns the address from which git fetches a repository. @returns the header has the form `Name: value`
   */
  originalOf(projectId: number): { url: string; header: string }
  listLfsObjects(projectId: number, signal: AbortSignal): Promise<LfsObject[]>
  /** Returns the bytes of an object as they arrive; null when the object no longer exists. */
  openLfsObject(projectId: number, oid: string, signal: AbortSignal): Promise<AsyncIterable<Buffer> | null>
  /** Lists the given projects whose repository has no branch yet. */
  listEmptyRepositories(projectIds: readonly number[], signal: AbortSignal): Promise<number[]>
}

/** The addresses of the other storages, and the header that authenticates this process. */
interface Addresses {
  others: ReadonlyMap<string, string>
  header: { name: string; value: string } | null
}

/**
 * @throws DomainError unavailable when this process does not know the storage, or gets no valid answer from
 *   it
 */
export function otherStorage({ others, header }: Addresses, name: string): OtherStorage {
  const address = others.get(name)
  if (address === undefined || header === null) throw unavailable(`the storage ${name} is not known here`)
  const base = `${address}/-/storages`

  async function ask(path: string, signal: AbortSignal, body?: object): Promise<Response | null> {
    const headers = { [header?.name ?? '']: header?.value ?? '', 'Content-Type': 'application/json' }
    const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
    const failed = (cause?: unknown) => unavailable(`the storage ${name} does not answer`, { cause })
    const response = await fetch(`${base}${path}`, { ...init, headers, signal, redirect: 'error' }).catch(
      (cause: unknown) => {
        throw failed(cause)
      },
    )
    if (response.ok) return response
    await response.body?.cancel()
    if (response.status === 404) return null
    throw failed(new Error(`status ${response.status}`))
  }
  const inTime = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)])

  return {
    originalOf: (projectId) => ({
      url: `${base}/projects/${projectId}/repository.git`,
      header: `${header.name}: ${header.value}`,
    }),
    async listLfsObjects(projectId, signal) {
      const response = await ask(`/projects/${projectId}/lfs_objects`, inTime(signal))
      if (!response) throw unavailable(`the repository is not in the storage ${name}`)
      return objects.parse(await response.json())
    },
    async openLfsObject(projectId, oid, signal) {
      const response = await ask(`/projects/${projectId}/lfs_objects/${oid}`, signal)
      return response && bytesOf(response)
    },
    async listEmptyRepositories(ids, signal) {
      const response = await ask('/empty_repositories', inTime(signal), { ids })
      return response ? emptiness.parse(await response.json()).empty : []
    },
  }
}

/**
 * Holds the response until its body is read: when only the body is referenced, fetch may end it as if it were
 * empty.
 */
async function* bytesOf(response: Response): AsyncGenerator<Buffer> {
  for await (const chunk of response.body ?? []) yield Buffer.from(chunk)
}
