import { endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { presentSystem, systemShape } from '../presenters/system.js'
import { showSystem } from '../use-cases/system.js'

/** `GET /system` */
export const getSystem = (deps: Dependencies) =>
  endpoint({
    summary: 'Versions, sizes and free space of what this installation runs on',
    replies: { 200: systemShape },
    input: z.object({}),
    handle: async () => ok(presentSystem(await showSystem(deps))),
  })
