export { Health, type HealthCheck, type Readiness } from './health.js'
export { waitForIdleTurn } from './idle-turn.js'
export { Lifecycle } from './lifecycle.js'
export { type Repeated, repeat } from './repeat.js'
export {
  createServiceContext,
  runService,
  type ServiceContext,
  type ServiceDefinition,
} from './run-service.js'
export { Wakeup } from './wakeup.js'
