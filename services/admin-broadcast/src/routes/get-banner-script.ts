import { readFile } from 'node:fs/promises'
import { bannerScriptFile } from '@switchyard/banner'
import { endpoint, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { publicHeaders } from './public-headers.js'

/** Kept for five minutes, then asked for again by its ETag: pages get a new version without a new address. */
const cacheControl = 'public, max-age=300, stale-while-revalidate=86400'

/** The web component that shows messages on any site, as one script. */
export const getBannerScript = () => {
  let script: Promise<Buffer> | undefined
  return endpoint({
    summary: 'The web component that shows messages on any site',
    replies: { 200: ['text/javascript'] },
    input: z.object({}),
    async handle(_input, _caller, { raw: { request, response } }) {
      script ??= readFile(bannerScriptFile)
      const body = await script
      // As for every other answer: what a client says to caches on the way must not keep it from a 304.
      delete request.headers['cache-control']
      response.set({ ...publicHeaders, 'Cache-Control': cacheControl })
      response.type('text/javascript').send(body)
      return streamed
    },
  })
}
