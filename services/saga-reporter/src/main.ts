import { runService } from '@switchyard/service-kit/lifecycle'
import { tuneCollector } from './collector.js'
import { configSchema } from './config.js'
import { createService } from './service.js'

tuneCollector()
await runService({ name: 'saga-reporter', schema: configSchema, create: createService })
