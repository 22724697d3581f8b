import type { Project } from '@switchyard/db'
import { expect } from 'vitest'
import type { GitHarness } from '../git-harness.js'

export type Who = keyof GitHarness['tokens'] | 'anonymous'

export const lfsType = 'application/vnd.git-lfs+json'

export const addressOf = ({ baseUrl }: GitHarness, { pathWithNamespace }: Project) =>
  `${baseUrl}/${pathWithNamespace}.git`

export type LfsRequests = ReturnType<typeof lfsRequests>

/** Returns functions that send requests of a Git LFS client in one project. */
export function lfsRequests(harness: GitHarness, project: Project) {
  /**
   * Sends a request with basic authentication, as git clients do. The address is absolute, or relative to the
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

  /** Sends a request and reads its JSON answer in the media type of LFS. */
  async function ask(...request: Parameters<typeof send>) {
    const { status, headers, bytes } = await send(...request)
    expect(headers.get('Content-Type')).toBe(lfsType)
    return { status, headers, body: JSON.parse(bytes.toString()) }
  }

  return { send, ask }
}
