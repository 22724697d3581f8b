import { httpServiceFields } from '@switchyard/config'
import { z } from 'zod'

export const configSchema = z.object({ ...httpServiceFields })

export type Config = z.output<typeof configSchema>
