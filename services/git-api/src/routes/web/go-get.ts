import { notFound } from '@switchyard/domain'
import { mayBeUsername } from '@switchyard/domain/access'
import { endpoint, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { projectPathOf } from '../../project-path.js'

/**
 * Says to Go where the repository of a module is, which may be in a folder of it. The answer is the same for every caller and
 * project, so nobody learns from it whether a project exists.
 */
export const goGet = endpoint({
  input: z.object({ namespace: z.string(), project: z.string() }),
  async handle(given, _access: unknown, { baseUrl, raw: { response } }) {
    const path = projectPathOf(given)
    if (!mayBeUsername(given.namespace) || !/^[\w.-]+\/[\w.-]+$/.test(path)) throw notFound()
    const address = `${baseUrl}/${path}`
    const root = address.replace(/^https?:\/\//, '')
    response
      .type('html')
      .set('Cache-Control', 'no-cache')
      .send(`<html><head><meta name="go-import" content="${root} git ${address}.git"></head></html>\n`)
    return streamed
  },
})
