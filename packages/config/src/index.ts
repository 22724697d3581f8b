export { commandLineProblem } from './command-line-problem.js'
export {
  baseUrl,
  booleanFlag,
  databaseUrl,
  integer,
  millisecondsOrOff,
  origins,
  port,
  redisUrl,
} from './fields.js'
export { ConfigError, loadConfig } from './load-config.js'
export { makeFolder } from './make-folder.js'
export { proxyNetworks, type TrustsProxy, trustsNobody } from './proxy-networks.js'
export { redisOptions } from './redis-options.js'
export { Secret } from './secret.js'
export { isSecretField, markSecret, secretField } from './secret-field.js'
export { readSecretFiles } from './secret-files.js'
export { httpServiceFields } from './service-fields.js'
