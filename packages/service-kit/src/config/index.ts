export {
  booleanFlag,
  ConfigError,
  commandLineProblem,
  databaseUrl,
  integer,
  loadConfig,
  makeFolder,
  markSecret,
  port,
  proxyNetworks,
  redisUrl,
  Secret,
  secretField,
  type TrustsProxy,
  trustsNobody,
} from '@switchyard/config'
export { httpServiceFields } from './service-fields.js'
