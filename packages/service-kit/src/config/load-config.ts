import type { z } from 'zod'

/** The environment does not fit the schema. The message lists every problem, one in each line, and no values. */
export class ConfigError extends Error {
  constructor(service: string, problems: string[]) {
    super(
      [`${service} cannot start: its environment does not fit.`, ...problems.map((p) => `  ${p}`)].join('\n'),
    )
    this.name = 'ConfigError'
  }
}

/**
 * Reads a service's whole configuration at once. A variable that is set but empty counts as unset.
 *
 * @param service name for the error text
 * @param schema one zod object; its keys are the names of environment variables
 * @throws ConfigError naming every variable that does not fit
 */
export function loadConfig<Schema extends z.ZodObject>(
  service: string,
  schema: Schema,
  env: NodeJS.ProcessEnv,
): z.output<Schema> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  throw new ConfigError(
    service,
    parsed.error.issues.map((issue) => {
      const name = issue.path.join('.')
      return name in given ? `${name}: ${issue.message}` : `${name} is required: ${issue.message}`
    }),
  )
}
