export {
  booleanFlag,
  ConfigError,
  databaseUrl,
  integer,
  loadConfig,
  makeFolder,
  markSecret,
  port,
  redisUrl,
  Secret,
  secretField,
} from '@switchyard/config'
export { httpServiceFields } from './service-fields.js'
