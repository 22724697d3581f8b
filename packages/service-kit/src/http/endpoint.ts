import type { Caller } from '@switchyard/domain/access'
import type { Request, Response } from 'express'
import type { Logger } from 'pino'
import type { z } from 'zod'
import type { KeptTexts } from './body/kept-texts.js'
import type { OwnBody, ParseLargeBody } from './body/read-input.js'
import type { AnswerForm } from './errors.js'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A request as guards and endpoints see it. */
export interface Call {
  /** Null: anonymous. */
  caller: Caller | null
  /** Names of the parameters that the endpoint declares. */
  parameterNames: ReadonlySet<string>
  /** Decoded path parameters: `group%2Fname` arrives as `group/name`. */
  params: Record<string, string>
  requestId: string
  /** Carries the request id in every line. */
  logger: Logger
  /** Aborted when the client goes away before its answer is complete; see also `longLived` of a route. */
  signal: AbortSignal
  /** Scheme, host and port that clients use, without a slash at the end. */
  baseUrl: string
  /**
   * What `ownBody` of the route made of the body. Unset: the route has parameters in its body, or reads it
   * itself.
   */
  body?: unknown
  /** The connection itself, for streams. Plain endpoints have no use for them. */
  raw: { request: Request; response: Response }
}

/**
 * Decides whether a call may go on, before its parameters are read, and returns what it found on the
 * way (a project, say) for the endpoint. Refuses by throwing a DomainError.
 */
export interface Guard<Access> {
  (call: Call): Promise<Access> | Access
  documents?: GuardDocumentation
}

/** The documentation of a guard in the OpenAPI document. */
export interface GuardDocumentation {
  /** Who passes the guard, as words in the middle of a sentence: `administrators`. Unset: everybody. */
  who?: string
  /** A token is not always needed. */
  anonymous?: boolean
  /** Path parameters that the guard reads: name → what it is. */
  parameters?: Record<string, string>
}

/** Adds its documentation to a guard. */
export const documented = <Access>(documents: GuardDocumentation, guard: Guard<Access>): Guard<Access> =>
  Object.assign((call: Call) => guard(call), { documents })

export interface Reply {
  status: number
  /** Sent as JSON, a WrittenJson as it is; undefined sends no body. */
  body?: unknown
  headers?: Record<string, string>
  /**
   * When the resource of the body was last changed, which its ETag names for `If-Match`. Unset: it has no
   * such time.
   */
  updatedAt?: Date
}

/** The documentation of an endpoint in the OpenAPI document, besides its input. */
export interface Documentation {
  /** What happens, in one line without a full stop. */
  summary: string
  /** Status → the shape of a JSON body, the media types of another one, or null for none. */
  replies: Record<number, z.ZodType | string[] | null>
  /**
   * Headers that replies may have: name → meaning. Unset: the pagination headers, where the endpoint has
   * pages.
   */
  headers?: Record<string, string>
  /**
   * The body of a route that does not have parameters in it: media type → its JSON schema. Its other
   * parameters are in the query.
   */
  body?: Record<string, object>
  /** Statuses of refusals, besides those that follow from guard and parameters. */
  refusals?: number[]
}

export interface Endpoint<Input extends z.ZodType, Access> extends Partial<Documentation> {
  /** Path, query and body parameters, merged in this order of precedence. */
  input: Input
  handle: (input: z.output<Input>, access: Access, call: Call) => Promise<Reply | Answered>
}

/** The endpoint has written to the connection itself. */
export const answered = Symbol('answered')
export type Answered = typeof answered

/** Ties the types of an endpoint's parts together; returns it unchanged. */
export const endpoint = <Input extends z.ZodType, Access>(definition: Endpoint<Input, Access>) => definition

export interface RouteOptions {
  /** Largest request body, decompressed. Unset: 1 MiB. */
  bodyBytesMax?: number
  /** Parses bodies above 1 MiB, away from the thread that serves all requests. */
  parseLargeBody?: ParseLargeBody
  /** Parameters come from a JSON body alone: forms are refused, and the query counts for nothing. */
  jsonOnly?: boolean
  /** Members of a JSON body that arrive as they were written, each as a JsonText. */
  keptTexts?: KeptTexts
  /**
   * A parameter that the endpoint does not declare is refused: a filter that was ignored would find more than
   * its sender wants. Unset: it counts for nothing, as in GitLab.
   */
  refusesUnknown?: boolean
  /**
   * The body is parsed as a whole, away from the thread that serves all requests; parameters stand in the
   * query.
   */
  ownBody?: OwnBody
  /** The endpoint reads the request stream itself: no body is parsed. */
  streamsBody?: boolean
  /**
   * Request or answer may take longer than a second: token and right are checked again while it is under way.
   * When either is gone, `signal` is aborted with the refusal as its reason, and the connection is cut a
   * moment later.
   */
  longLived?: boolean
  /** The password of basic authentication is a token, too; a 401 asks for it. */
  basicAuthentication?: boolean
  /** Parameters of a request that does not have them, by what the guard has found. */
  defaults?: (access: unknown) => Readonly<Record<string, unknown>>
  /**
   * Other processes of this installation call it. It has no token and no rate limit; its guard knows the
   * caller.
   */
  internal?: boolean
  /** The form of JSON answers and errors. Unset: that of the API. */
  answerForm?: AnswerForm
  /** The whole path stands as it is, outside /api/v4. */
  outsideApi?: boolean
  /** Only such requests reach the route. For others its path does not exist, unless another route has it. */
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
 * A row of the route list: method, path, who may, what happens.
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

/** The express pattern of the whole path of a route. */
export const pathOf = ({ path, outsideApi }: Pick<Route, 'path' | 'outsideApi'>): string =>
  outsideApi ? path : `/api/v4${path}`

/** Routes whose questions refuse parameters that they do not declare. */
export const refusingUnknown = (routes: Route[]): Route[] =>
  routes.map((each) => (each.method === 'GET' ? { ...each, refusesUnknown: true } : each))

export const ok = (body: unknown, headers?: Record<string, string>): Reply => ({ status: 200, body, headers })
/** 200 with a resource that can be changed. */
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
/** 302: found at another address. */
export const redirect = (location: string, headers?: Record<string, string>): Reply => ({
  status: 302,
  headers: { Location: location, ...headers },
})
