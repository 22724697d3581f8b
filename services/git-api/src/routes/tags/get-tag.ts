import { endpoint, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { presentTag, tagShape } from '../../presenters/tag.js'
import { getTag } from '../../use-cases/tags.js'

/** `GET /projects/:id/repository/tags/:tag_name` */
export const getTagEndpoint = (deps: Dependencies) =>
  endpoint({
    summary: 'One tag',
    replies: { 200: tagShape },
    refusals: [413],
    input: z.object({ tag_name: text() }),
    async handle({ tag_name }, access: ProjectCall, call) {
      return ok(presentTag(await getTag(deps, access, tag_name), access.project, call.baseUrl))
    },
  })
