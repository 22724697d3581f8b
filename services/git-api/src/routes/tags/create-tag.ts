import type { Caller } from '@switchyard/domain/access'
import { created, endpoint, filledText, proseCharsMax, text, unsupported } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { presentTag, tagShape } from '../../presenters/tag.js'
import { createTag } from '../../use-cases/tags.js'
import { optional } from '../../wire/parameters.js'

const input = z.object({
  tag_name: filledText(),
  ref: filledText(),
  message: optional(text(proseCharsMax)),
  release_description: unsupported('is not supported: create a release of the tag'),
})

/** `POST /projects/:id/repository/tags` */
export const createTagEndpoint = (deps: Dependencies) =>
  endpoint({
    summary: 'Create a tag; a message makes it an annotated one',
    replies: { 201: tagShape },
    input,
    async handle({ tag_name, ref, message = '' }, access: ProjectCall<Caller>, call) {
      const tag = await createTag(deps, access, { name: tag_name, start: ref, message }, call)
      return created(presentTag(tag, access.project, call.baseUrl))
    },
  })
