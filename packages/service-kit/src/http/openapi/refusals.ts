import { z } from 'zod'
import { type JsonSchema, type NamedShapes, toJsonSchema } from './json-schema.js'

const request_id = z.string()

const parameterProblem = z
  .object({ error: z.string(), request_id })
  .meta({ id: 'ParameterProblem', description: 'Parameters could not be read; all problems at once.' })

/** Further keys give clients details, e.g. which action of a commit failed. */
const refusal = z
  .looseObject({ message: z.string(), request_id })
  .meta({ id: 'Refusal', description: 'A decision.' })

const fieldProblems = z
  .object({ message: z.record(z.string(), z.array(z.string())), request_id })
  .meta({ id: 'FieldProblems', description: 'Values that break a rule, by field.' })

const insufficientScope = z
  .object({
    error: z.literal('insufficient_scope'),
    error_description: z.string(),
    scope: z.string().meta({ description: 'The scopes that would do, with blanks between.' }),
    request_id,
  })
  .meta({ id: 'InsufficientScope', description: 'The token is good, but was not made for this.' })

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
    description: 'Parameters that cannot be read, or values that break a rule',
    shapes: [parameterProblem, fieldProblems, refusal],
  },
  401: {
    name: 'Unauthorized',
    description: 'No token where one is needed, or one that is not good',
    shapes: [refusal],
  },
  403: {
    name: 'Forbidden',
    description: 'The role is too low, or the token was not made for this',
    shapes: [refusal, insufficientScope],
  },
  404: {
    name: 'NotFound',
    description: 'It does not exist, or the caller may not know of it',
    shapes: [refusal],
  },
  405: {
    name: 'NotSupported',
    description: 'GitLab has this operation; here it has nothing to act on',
    shapes: [refusal],
  },
  408: { name: 'Stalled', description: 'The body did not go on arriving', shapes: [refusal] },
  409: { name: 'Conflict', description: 'Taken, or changed by somebody else meanwhile', shapes: [refusal] },
  412: {
    name: 'PreconditionFailed',
    description: 'Changed since the caller looked at it',
    shapes: [refusal],
  },
  413: {
    name: 'TooLarge',
    description: 'The body, or what was asked about, is too large',
    shapes: [refusal],
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is neither JSON nor a form',
    shapes: [parameterProblem],
  },
  422: {
    name: 'Unprocessable',
    description: 'Taken already, or something that it needs was not given',
    shapes: [refusal],
  },
  429: {
    name: 'RateLimited',
    description: 'Too many requests, or too much in them at once; `Retry-After` says when to go on',
    shapes: [tooManyRequests],
  },
  500: {
    name: 'Failed',
    description: 'A defect; the log has its cause under this request id',
    shapes: [refusal],
  },
  503: {
    name: 'Unavailable',
    description: 'A part of the system is unreachable or out of memory; trying again later may work',
    shapes: [refusal],
  },
  507: {
    name: 'InsufficientStorage',
    description: 'A disk of the server is full, or almost; reading goes on',
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
