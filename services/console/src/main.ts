import { runService } from '@switchyard/service-kit/lifecycle'
import { configSchema } from './config.js'
import { createService } from './service.js'

await runService({ name: 'console', schema: configSchema, create: createService })
