import { endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'

/** The GitLab release whose API this service implements; clients switch features on and off by it. */
const apiVersion = '18.9.0'

/** `GET /version` */
export const getVersion = endpoint({
  summary: 'The GitLab release whose API this server implements',
  replies: { 200: z.object({ version: z.string(), revision: z.string(), enterprise: z.boolean() }) },
  input: z.object({}),
  handle: async () => ok({ version: `${apiVersion}-switchyard`, revision: 'switchyard', enterprise: false }),
})
