import { z } from 'zod'
import { type JsonSchema, type NamedShapes, toJsonSchema } from './json-schema.js'

const request_id = z.string()

const parameterProblem = z
  .object({ error: z.string(), request_id })
  .meta({ id: 'ParameterProblem', description: 'Invalid parameters; all problems are listed.' })

/** Further keys give clients details, e.g. which action of a commit failed. */
const refusal = z
  .looseObject({ message: z.string(), request_id })
  .meta({ id: 'Refusal', description: 'A refusal with its reason.' })

const fieldProblems = z
  .object({ message: z.record(z.string(), z.array(z.string())), request_id })
  .meta({ id: 'FieldProblems', description: 'Values that break a rule, by field.' })

const insufficientScope = z
  .object({
    error: z.literal('insufficient_scope'),
    error_description: z.string(),
    scope: z.string().meta({ description: 'The sufficient scopes, separated by spaces.' }),
    request_id,
  })
  .meta({ id: 'InsufficientScope', description: 'The token is valid, but lacks a required scope.' })

const tooManyRequests = z
  .object({ message: z.object({ error: z.string() }), request_id })
  .meta({ id: 'TooManyRequests' })

interface Refused {
  name: string
  description: string
  shapes: [z.ZodType, ...z.ZodType[]]
}

/** Every status with which a request can be refused, and the bodies of such answers. */
export const refusedWith: Record<number, Refused> = {
  400: {
    name: 'BadRequest',
    description: 'Invalid parameters, or values that break a rule',
    shapes: [parameterProblem, fieldProblems, refusal],
  },
  401: {
    name: 'Unauthorized',
    description: 'Missing or invalid token',
    shapes: [refusal],
  },
  403: {
    name: 'Forbidden',
    description: 'The role is too low, or the token lacks a required scope',
    shapes: [refusal, insufficientScope],
  },
  404: {
    name: 'NotFound',
    description: 'The resource does not exist, or the caller may not see it',
    shapes: [refusal],
  },
  405: {
    name: 'NotSupported',
    description: 'An operation of GitLab that Switchyard does not support',
    shapes: [refusal],
  },
  408: { name: 'Stalled', description: 'The body stopped arriving', shapes: [refusal] },
  409: {
    name: 'Conflict',
    description: 'Conflict: already taken, or changed by somebody else in the meantime',
    shapes: [refusal],
  },
  412: {
    name: 'PreconditionFailed',
    description: 'Changed since the caller looked at it',
    shapes: [refusal],
  },
  413: {
    name: 'TooLarge',
    description: 'The body or the requested resource is too large',
    shapes: [refusal],
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is neither JSON nor a form',
    shapes: [parameterProblem],
  },
  422: {
    name: 'Unprocessable',
    description: 'Already taken, or a required value is missing',
    shapes: [refusal],
  },
  429: {
    name: 'RateLimited',
    description: 'Too many requests, or too much data in them; retry after `Retry-After`',
    shapes: [tooManyRequests],
  },
  500: {
    name: 'Failed',
    description: 'Internal error; the log contains its cause under this request id',
    shapes: [refusal],
  },
  503: {
    name: 'Unavailable',
    description: 'A part of the system is unreachable or out of memory; trying again later may work',
    shapes: [refusal],
  },
  507: {
    name: 'InsufficientStorage',
    description: 'A disk of the server is full or almost full; reads still work',
    shapes: [refusal],
  },
}

/**
 * Returns a reference to the answer with a status.
 *
 * @throws Error for a status with which no request is refused
 */
export function refusalReference(status: number): { $ref: string } {
  const refused = refusedWith[status]
  if (!refused) throw new Error(`no request is refused with ${status}`)
  return { $ref: `#/components/responses/${refused.name}` }
}

/** Returns the answers that operations refer to. */
export function refusalResponses(named: NamedShapes): Record<string, JsonSchema> {
  const responses = Object.values(refusedWith).map(({ name, description, shapes }) => {
    const [first, ...others] = shapes.map((shape) => toJsonSchema(shape, 'output', named))
    const schema = others.length === 0 ? first : { anyOf: [first, ...others] }
    return [name, { description, content: { 'application/json': { schema } } }] as const
  })
  return Object.fromEntries(responses)
}
