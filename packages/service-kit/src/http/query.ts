import type { Request } from 'express'

/**
 * The parameters in the query of a request. An empty one of a question (GET, HEAD) counts as left out, because forms and
 * many clients send every field.
 */
export function readQuery({ method, query }: Pick<Request, 'method' | 'query'>): Record<string, unknown> {
  if (method !== 'GET' && method !== 'HEAD') return query
  return Object.fromEntries(Object.entries(query).filter(([, value]) => !isEmpty(value)))
}

const isEmpty = (value: unknown) => value === '' || (Array.isArray(value) && value.length === 0)
