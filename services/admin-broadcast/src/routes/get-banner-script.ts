import { readFile } from 'node:fs/promises'
import { bannerScriptFile } from '@switchyard/banner'
import { endpoint, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { publicHeaders } from './public-headers.js'

/** Caches keep the script for five minutes and then revalidate it by its ETag. */
const cacheControl = 'public, max-age=300, stale-while-revalidate=86400'

/** The web component that shows messages on any site, as one script. */
export const getBannerScript = () => {
  let script: Promise<Buffer> | undefined
  return endpoint({
    summary: 'The web component that shows messages on any site',
    replies: { 200: ['text/javascript'] },
    input: z.object({}),
    async handle(_input, _caller, { raw: { response } }) {
      script ??= readFile(bannerScriptFile)
      const body = await script
      response.set({ ...publicHeaders, 'Cache-Control': cacheControl })
      response.type('text/javascript').send(body)
      return streamed
    },
  })
}
