export { booleanFlag, databaseUrl, integer, port, redisUrl } from './fields.js'
export { ConfigError, loadConfig } from './load-config.js'
export { Secret } from './secret.js'
export { httpServiceFields } from './service-fields.js'
