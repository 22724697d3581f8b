import { DomainError, notFound } from '@switchyard/domain'
import { endpoint } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { getDownloadUrl } from '../../use-cases/release-links.js'
import { getLatestTag } from '../../use-cases/releases.js'
import { turnAway, type Visit } from './visitors.js'

/** `GET /:namespace/:project/-/releases/*tag/downloads/*path`: the tag of a release, or `permalink/latest`. */
export const getReleaseDownload = (deps: Dependencies) =>
  endpoint({
    input: z.object({ tag: z.array(z.string()), path: z.array(z.string()) }),
    async handle({ tag, path }, access: Visit, call) {
      if (!access) return turnAway(call, 'releases', tag)
      const Location = await findDownload(deps, access, [...tag, 'downloads', ...path])
      return { status: 302, headers: { Location } }
    },
  })

/** Tags and paths may hold the word themselves. */
const splitsMax = 5

async function findDownload(deps: Dependencies, access: ProjectCall, parts: string[]): Promise<string> {
  const splits = parts.flatMap((part, index) => (part === 'downloads' && index > 0 ? [index] : []))
  for (const at of splits.slice(0, splitsMax)) {
    const named = parts.slice(0, at).join('/')
    const tag = named === 'permalink/latest' ? await getLatestTag(deps, access) : named
    try {
      return await getDownloadUrl(deps, access, tag, `/${parts.slice(at + 1).join('/')}`)
    } catch (error) {
      if (!(error instanceof DomainError && error.kind === 'not-found')) throw error
    }
  }
  throw notFound()
}
