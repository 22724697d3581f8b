import { notSupported } from '@switchyard/domain'
import { endpoint } from '@switchyard/service-kit/http'
import { z } from 'zod'

/** An operation of GitLab on pipelines that run somewhere, which is refused with the reason. */
export const refuseToRun = (summary: string) =>
  endpoint({
    summary: `${summary}: not supported, as pipelines follow from commit statuses`,
    replies: {},
    refusals: [405],
    input: z.object({}),
    handle: async () => {
      throw notSupported('Switchyard runs no pipelines: they follow from commit statuses')
    },
  })
