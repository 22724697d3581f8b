import { matchesTargetPath } from '@switchyard/domain/broadcast'
import { endpoint, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { bannerShape, presentBanner } from '../presenters/broadcast-message.js'
import { publicHeaders } from './public-headers.js'

const keptMs = 1000

/**
 * The answer is equal for everybody, so caches may keep it for a second, unless a message appears or disappears within that
 * second.
 */
export const listActiveMessages = ({ board, clock }: Pick<Dependencies, 'board' | 'clock'>) =>
  endpoint({
    summary: 'Messages that are on now, for everybody',
    replies: { 200: z.array(bannerShape) },
    input: z.object({ path: text().optional() }),
    async handle({ path }) {
      const { messages, nextTurn } = await board.active()
      const shown =
        path === undefined
          ? messages
          : messages.filter(({ targetPath }) => matchesTargetPath(targetPath, path))
      const steady = nextTurn === undefined || nextTurn.getTime() - clock().getTime() > keptMs
      const cacheControl = `public, max-age=${steady ? keptMs / 1000 : 0}`
      return ok(shown.map(presentBanner), { ...publicHeaders, 'Cache-Control': cacheControl })
    },
  })
