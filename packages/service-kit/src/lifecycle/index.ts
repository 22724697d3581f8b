export { Health, type HealthCheck, type Readiness } from './health.js'
export { Lifecycle } from './lifecycle.js'
export { runService, type ServiceContext, type ServiceDefinition } from './run-service.js'
