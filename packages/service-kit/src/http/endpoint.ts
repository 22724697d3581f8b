import type { Caller } from '@switchyard/domain/access'
import type { Request, Response } from 'express'
import type { Logger } from 'pino'
import type { z } from 'zod'
import type { HoldAnswer } from './answer-memory.js'
import type { KeptTexts } from './body/kept-texts.js'
import type { OwnBody, ParseLargeBody } from './body/read-input.js'
import type { AnswerForm } from './errors.js'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A request as guards and endpoints receive it. */
export interface Call {
  /** Null: the request is anonymous. */
  caller: Caller | null
  /** Names of the parameters that the endpoint declares. */
  parameterNames: ReadonlySet<string>
  /** Decoded path parameters: `group%2Fname` arrives as `group/name`. */
  params: Record<string, string>
  requestId: string
  /** A logger that writes the request id in every line. */
  logger: Logger
  /** Aborted when the client goes away before its answer is complete; see also `longLived` of a route. */
  signal: AbortSignal
  /** Scheme, host and port that clients use, without a slash at the end. */
  baseUrl: string
  /**
   * Counts the memory of the answer. An endpoint calls it before it reads many megabytes for the answer; the
   * answers of all other endpoints are counted once they are complete.
   */
  holdAnswer: HoldAnswer
  /**
   * The result of `ownBody` of the route. Unset: the route has parameters in its body, or reads the body
   * itself.
   */
  body?: unknown
  /** The connection itself, for streams. Other endpoints do not use it. */
  raw: { request: Request; response: Response }
}

/**
 * A check that decides whether a call may continue, before its parameters are read. It returns what it found
 * (a project, for example) for the endpoint, and refuses by throwing a DomainError.
 */
export interface Guard<Access> {
  (call: Call): Promise<Access> | Access
  documents?: GuardDocumentation
}

/** The documentation of a guard in the OpenAPI document. */
export interface GuardDocumentation {
  /**
   * The callers that pass the guard, as words in the middle of a sentence: `administrators`. Unset:
   * everybody.
   */
  who?: string
  /** Whether some calls need no token. */
  anonymous?: boolean
  /** Meaning of each path parameter that the guard reads, by name. */
  parameters?: Record<string, string>
}

/** Adds its documentation to a guard. */
export const documented = <Access>(documents: GuardDocumentation, guard: Guard<Access>): Guard<Access> =>
  Object.assign((call: Call) => guard(call), { documents })

export interface Reply {
  status: number
  /** Body of the answer. It is sent as JSON, a WrittenJson as it is. Undefined: no body. */
  body?: unknown
  headers?: Record<string, string>
  /**
   * Time of the last change of the resource, which its ETag names for `If-Match`. Unset: it has no such time.
   */
  updatedAt?: Date
}

/** The documentation of an endpoint in the OpenAPI document, besides its input. */
export interface Documentation {
  /** What the endpoint does, in one line without a full stop. */
  summary: string
  /** For each status, the shape of a JSON body, the media types of another body, or null for no body. */
  replies: Record<number, z.ZodType | string[] | null>
  /**
   * Meaning of the headers that replies may have, by name. Unset: the pagination headers, where the endpoint
   * has pages.
   */
  headers?: Record<string, string>
  /**
   * JSON schema by media type, for a route whose body has no parameters. Its other parameters are in the
   * query.
   */
  body?: Record<string, object>
  /** Statuses of further refusals, besides those of guard and parameters. */
  refusals?: number[]
}

export interface Endpoint<Input extends z.ZodType, Access> extends Partial<Documentation> {
  /** Path, query and body parameters, merged in this order of precedence. */
  input: Input
  handle: (input: z.output<Input>, access: Access, call: Call) => Promise<Reply | Answered>
}

/** The result of an endpoint that has written to the connection itself. */
export const answered = Symbol('answered')
export type Answered = typeof answered

/** Returns the endpoint unchanged, and ties the types of its parts together. */
export const endpoint = <Input extends z.ZodType, Access>(definition: Endpoint<Input, Access>) => definition

export interface RouteOptions {
  /** Largest request body, decompressed. Unset: 1 MiB. */
  bodyBytesMax?: number
  /** Parses bodies above 1 MiB outside of the main thread. */
  parseLargeBody?: ParseLargeBody
  /** Whether parameters come only from a JSON body: forms are refused, and the query is ignored. */
  jsonOnly?: boolean
  /** Members of a JSON body that keep their original text, each as a JsonText. */
  keptTexts?: KeptTexts
  /**
   * Whether a parameter that the endpoint does not declare is refused, because an ignored filter would find
   * more than its sender wants. Unset: it is ignored, as in GitLab.
   */
  refusesUnknown?: boolean
  /** Parses the body as a whole, outside of the main thread. Parameters are in the query. */
  ownBody?: OwnBody
  /** Whether the endpoint reads the request stream itself, so that no body is parsed. */
  streamsBody?: boolean
  /**
   * Whether request or answer may take longer than a second. Token and right are then checked again
   * meanwhile. When either is gone, `signal` is aborted with the refusal as its reason, and the connection is
   * cut a moment later.
   */
  longLived?: boolean
  /** Whether the password of basic authentication may be a token. A 401 then asks for it. */
  basicAuthentication?: boolean
  /** Returns defaults for parameters of a request, from the result of the guard. */
  defaults?: (access: unknown) => Readonly<Record<string, unknown>>
  /**
   * Whether only other processes of this installation call it. It has no token and no rate limit; its guard
   * recognizes the caller.
   */
  internal?: boolean
  /** The form of JSON answers and errors. Unset: that of the API. */
  answerForm?: AnswerForm
  /** Whether the path is outside of /api/v4, and complete as it is. */
  outsideApi?: boolean
  /**
   * Selects the requests of the route. For other requests its path does not exist, unless another route has
   * it.
   */
  only?: (request: Request) => boolean
}

/** A row of a service's route list. */
export interface Route extends RouteOptions {
  method: Method
  path: string
  guard: Guard<unknown>
  endpoint: Endpoint<z.ZodType, unknown>
}

/**
 * Creates a row of the route list: method, path, guard and endpoint.
 *
 * @param path express pattern, relative to /api/v4 unless `outsideApi`
 */
export function route<Input extends z.ZodType, Access>(
  method: Method,
  path: string,
  guard: Guard<Access>,
  definition: Endpoint<Input, NoInfer<Access>>,
  options: RouteOptions = {},
): Route {
  return { method, path, guard, endpoint: definition as unknown as Endpoint<z.ZodType, unknown>, ...options }
}

/** Returns the express pattern of the whole path of a route. */
export const pathOf = ({ path, outsideApi }: Pick<Route, 'path' | 'outsideApi'>): string =>
  outsideApi ? path : `/api/v4${path}`

/** Marks the GET routes so that they refuse parameters that they do not declare. */
export const refusingUnknown = (routes: Route[]): Route[] =>
  routes.map((each) => (each.method === 'GET' ? { ...each, refusesUnknown: true } : each))

export const ok = (body: unknown, headers?: Record<string, string>): Reply => ({ status: 200, body, headers })
/** Returns 200 with a resource that can be changed. */
export const versioned = (body: unknown, { updatedAt }: { updatedAt: Date }): Reply => ({
  ...ok(body),
  updatedAt,
})
export const created = (body: unknown, headers?: Record<string, string>): Reply => ({
  status: 201,
  body,
  headers,
})
export const accepted = (body: unknown): Reply => ({ status: 202, body })
export const noContent = (headers?: Record<string, string>): Reply => ({ status: 204, headers })
/** Returns 302: the resource is at another address. */
export const redirect = (location: string, headers?: Record<string, string>): Reply => ({
  status: 302,
  headers: { Location: location, ...headers },
})
