import { DomainError, excerpt, invalidParameters } from '@switchyard/domain'
import type { Request } from 'express'
import type { KeptTexts } from './kept-texts.js'
import { isJson, isMultipart, isUrlencoded, mediaTypeOf } from './media-type.js'
import { parseBody } from './parse-body.js'
import { type ReceiveOptions, receiveBody } from './receive-body.js'

/** Largest body unless a route sets another limit, and the largest body that is parsed in the main thread. */
export const bodyBytesDefault = 1024 * 1024

/** A body that is too large to be parsed in the main thread. */
export interface LargeBody {
  /** All its bytes, in order. The parser may transfer their memory to another thread. */
  chunks: Buffer[]
  bytes: number
  contentType: string | undefined
  /** A user, or an address. */
  sender: string
}

export type ParseLargeBody = (body: LargeBody) => Promise<Record<string, unknown>>

export interface ReadOptions extends ReceiveOptions {
  /** Parses a body that is larger than 1 MiB. Unset: larger bodies are refused. */
  parseLargeBody?: ParseLargeBody | undefined
  /** A user, or an address. */
  sender: string
  /** Whether only a JSON body and the path have parameters. */
  jsonOnly?: boolean | undefined
  /** Members of a JSON body of up to 1 MiB that keep their original text. */
  keptTexts?: KeptTexts | undefined
}

/** The way in which a body without parameters is read. */
export interface OwnBody {
  /** Media types that are accepted. */
  mediaTypes: readonly string[]
  /** The endpoint finds the result in `body` of its call. */
  parse: (body: LargeBody) => Promise<unknown>
}

/**
 * Reads a body of its own form.
 *
 * @throws DomainError as {@link readInput}; invalid-parameters for an empty body; every refusal of the parser
 */
export async function readOwnBody(
  request: Request,
  { mediaTypes, parse, sender, ...options }: OwnBody & ReceiveOptions & Pick<ReadOptions, 'sender'>,
): Promise<unknown> {
  const contentType = request.headers['content-type']
  if (!hasBody(request)) throw emptyBody()
  if (!mediaTypes.includes(mediaTypeOf(contentType))) throw unknownType(contentType)
  const { chunks, bytes } = await receiveBody(request, options)
  if (bytes === 0) throw emptyBody()
  return parse({ chunks, bytes, contentType, sender })
}

const emptyBody = () => invalidParameters(['the body is empty'])

const unknownType = (contentType: string | undefined) =>
  new DomainError(
    'unsupported-media-type',
    `The provided content-type '${excerpt(String(contentType))}' is not supported.`,
  )

/**
 * Reads a JSON, urlencoded or multipart body and merges its parameters with those of query and path. The path
 * wins over the body, and the body over the query.
 *
 * @throws DomainError for a body that cannot be read, is too large, finds no memory, or stalls
 */
export async function readInput(request: Request, options: ReadOptions): Promise<Record<string, unknown>> {
  const fields = hasBody(request) ? await readBody(request, options) : {}
  refuseNulInPath(request.params)
  if (options.jsonOnly) return { ...fields, ...request.params }
  return { ...readQuery(request), ...fields, ...request.params }
}

async function readBody(
  request: Request,
  { parseLargeBody, sender, jsonOnly, keptTexts, ...options }: ReadOptions,
) {
  const type = request.headers['content-type']
  const isAccepted = jsonOnly
    ? mediaTypeOf(type) === 'application/json'
    : isJson(type) || isUrlencoded(type) || isMultipart(type)
  if (!isAccepted) throw unknownType(type)
  const { chunks, bytes } = await receiveBody(request, options)
  if (bytes === 0) return {}
  if (bytes > bodyBytesDefault && parseLargeBody)
    return parseLargeBody({ chunks, bytes, contentType: type, sender })
  return parseBody(Buffer.concat(chunks, bytes), type, keptTexts)
}

const hasBody = ({ headers }: Request) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

function refuseNulInPath(params: Record<string, unknown>): void {
  const bad = Object.keys(params).filter((name) => String(params[name]).includes('\0'))
  if (bad.length > 0) throw invalidParameters(bad.map((name) => `${name} is invalid`))
}

/**
 * Returns the parameters in the query of a request. An empty parameter of a GET or HEAD request counts as
 * left out, because forms and many clients send every field.
 */
export function readQuery({ method, query }: Pick<Request, 'method' | 'query'>): Record<string, unknown> {
  if (method !== 'GET' && method !== 'HEAD') return query
  return Object.fromEntries(Object.entries(query).filter(([, value]) => !isEmpty(value)))
}

const isEmpty = (value: unknown) => value === '' || (Array.isArray(value) && value.length === 0)
