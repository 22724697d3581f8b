import type { IncomingHttpHeaders } from 'node:http'
import { excerpt, invalidParameters } from '@switchyard/domain'
import { z } from 'zod'
import type { Route } from './endpoint.js'
import { problemsMax, textCharsMax } from './parameters.js'

/**
 * Returns the names of the parameters in a path, including those for several parts: `/users/:id/files/*path`
 * → `['id', 'path']`.
 */
export const namesInPath = (path: string) => [...path.matchAll(/[:*](\w+)/g)].map(([, name]) => String(name))

/**
 * Returns the names of the parameters that an endpoint declares: those of its schema, even when the schema
 * converts them first.
 */
export function declaredNames(input: z.ZodType): ReadonlySet<string> {
  if (input instanceof z.ZodPipe) return declaredNames(input.out as z.ZodType)
  return new Set(input instanceof z.ZodObject ? Object.keys(input.shape) : [])
}

/**
 * Refuses long values in the path that no schema limits, because only the guard reads them.
 *
 * @throws DomainError invalid-parameters
 */
export function boundPath(params: Readonly<Record<string, unknown>>, declared: ReadonlySet<string>): void {
  const long = Object.keys(params).filter(
    (name) => !declared.has(name) && String(params[name]).length > textCharsMax,
  )
  if (long.length === 0) return
  throw invalidParameters(long.map((name) => `${name} is too long (maximum is ${textCharsMax} characters)`))
}

/**
 * Refuses the parameter `sudo`, which asks to act for another user. A request whose `sudo` was ignored would
 * act for its sender instead.
 *
 * @throws DomainError invalid-parameters
 */
export function refuseSudo(headers: IncomingHttpHeaders, given: Readonly<Record<string, unknown>>): void {
  if ((headers.sudo ?? given.sudo ?? '') === '') return
  throw invalidParameters(['sudo is not supported: a token acts for its own user'])
}

/**
 * Refuses parameters that an endpoint does not declare, when its route requires that.
 *
 * @throws DomainError invalid-parameters
 */
export function refuseUnknown(
  { refusesUnknown, path }: Pick<Route, 'refusesUnknown' | 'path'>,
  given: Readonly<Record<string, unknown>>,
  declared: ReadonlySet<string>,
): void {
  if (!refusesUnknown) return
  const inPath = namesInPath(path)
  const unknown = Object.keys(given).filter((name) => !declared.has(name) && !inPath.includes(name))
  if (unknown.length === 0) return
  throw invalidParameters(unknown.slice(0, problemsMax).map((name) => `${excerpt(name)} is not a parameter`))
}
