import { endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'

/** The GitLab release whose API this service implements; clients switch features on and off by it. */
const apiVersion = '18.9.0'

/** `GET /version` */
export const getVersion = ({ revision }: Pick<Dependencies, 'revision'>) =>
  endpoint({
    summary: 'The GitLab release whose API this server implements, and the commit that it was built from',
    replies: { 200: z.object({ version: z.string(), revision: z.string(), enterprise: z.boolean() }) },
    input: z.object({}),
    handle: async () =>
      ok({ version: `${apiVersion}-switchyard`, revision: revision.slice(0, 11), enterprise: false }),
  })
