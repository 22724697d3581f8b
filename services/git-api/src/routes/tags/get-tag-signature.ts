import { endpoint, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { presentSignature, signatureShape } from '../../presenters/signature.js'
import { readTagSignature } from '../../use-cases/tags.js'

/** `GET /projects/:id/repository/tags/:tag_name/signature` */
export const getTagSignatureEndpoint = endpoint({
  summary: 'What kind of signature a tag has; no signature is verified',
  replies: { 200: signatureShape },
  input: z.object({ tag_name: text() }),
  async handle({ tag_name }, access: ProjectCall) {
    return ok(presentSignature(await readTagSignature(access, tag_name)))
  },
})
