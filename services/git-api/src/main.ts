import { runService } from '@switchyard/service-kit/lifecycle'
import { configSchema } from './config.js'
import { createService } from './service.js'

await runService({ name: 'git-api', schema: configSchema, create: createService })
