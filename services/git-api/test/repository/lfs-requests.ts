import type { Project } from '@switchyard/db'
import { expect } from 'vitest'
import type { GitHarness } from '../git-harness.js'

export type Who = keyof GitHarness['tokens'] | 'anonymous'

export const lfsType = 'application/vnd.git-lfs+json'

export const addressOf = ({ baseUrl }: GitHarness, { pathWithNamespace }: Project) =>
  `${baseUrl}/${pathWithNamespace}.git`

export type LfsRequests = ReturnType<typeof lfsRequests>

/** Requests of a client of Git LFS in one project. */
export function lfsRequests(harness: GitHarness, project: Project) {
  /**
   * Sends a request with basic authentication, as clients of git do. The address is whole, or below the
   * repository.
   */
  async function send(who: Who, method: string, url: string, body?: unknown, headers = {}) {
    const token = who === 'anonymous' ? undefined : harness.tokens[who]
    const response = await fetch(url.startsWith('http') ? url : `${addressOf(harness, project)}${url}`, {
      method,
      headers: {
        ...(token && { Authorization: `Basic ${btoa(`any:${token}`)}` }),
        ...(body !== undefined && { 'Content-Type': `${lfsType}; charset=utf-8` }),
        ...headers,
      },
      ...(body !== undefined && {
        body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body),
      }),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    return { status: response.status, headers: response.headers, bytes }
  }

  /** The same, for an answer that is JSON of the type that clients of LFS ask for. */
  async function ask(...request: Parameters<typeof send>) {
    const { status, headers, bytes } = await send(...request)
    expect(headers.get('Content-Type')).toBe(lfsType)
    return { status, headers, body: JSON.parse(bytes.toString()) }
  }

  return { send, ask }
}
