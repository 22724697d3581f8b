import type { z } from 'zod'
import { isSecretField } from './secret-field.js'
import { readSecretFiles } from './secret-files.js'

/**
 * The error of an environment that does not fit the schema. The message lists every problem, one on each
 * line, and no values.
 */
export class ConfigError extends Error {
  constructor(service: string, problems: string[]) {
    super(
      [`${service} cannot start: its environment does not fit.`, ...problems.map((p) => `  ${p}`)].join('\n'),
    )
    this.name = 'ConfigError'
  }
}

/**
 * Reads the whole configuration of a process at once. An empty variable counts as unset. Every secret `NAME`
 * may come from the file that `NAME_FILE` names.
 *
 * @param service name for the error text
 * @param schema one zod object; its keys are the names of environment variables
 * @throws ConfigError naming every invalid variable
 */
export function loadConfig<Schema extends z.ZodObject>(
  service: string,
  schema: Schema,
  env: NodeJS.ProcessEnv,
): z.output<Schema> {
  const secretNames = Object.keys(schema.shape).filter((name) => isSecretField(schema.shape[name]))
  const secrets = readSecretFiles(secretNames, env)
  const given = Object.fromEntries(Object.entries(secrets.env).filter(([, value]) => value !== ''))
  const parsed = schema.safeParse(given)
  if (parsed.success && secrets.problems.size === 0) return parsed.data
  const misfits = (parsed.error?.issues ?? [])
    .filter(({ path }) => !secrets.problems.has(path.join('.')))
    .map(
      ({ path, message }) => `${path.join('.')}${String(path[0]) in given ? '' : ' is required'}: ${message}`,
    )
  throw new ConfigError(service, [...secrets.problems.values(), ...misfits])
}
