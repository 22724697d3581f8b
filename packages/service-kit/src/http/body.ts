import { DomainError, invalidParameters, tooLarge } from '@switchyard/domain'
import express, { type Request, type RequestHandler, type Response } from 'express'
import multer from 'multer'
import { readLargeBody } from './large-body.js'
import { parseLargeJson } from './large-json.js'

export const bodyBytesDefault = 1024 * 1024

const tooLargeText = '413 Request Entity Too Large'

const form = multer({ limits: { fieldSize: bodyBytesDefault, fields: 1000, parts: 1000 } }).none()

/** Form fields only: a file part is refused. Whatever else multer dislikes is the form's fault, too. */
const multipart: RequestHandler = (request, response, next) => {
  form(request, response, (error?: unknown) => {
    if (!error) return next()
    const code = (error as { code?: string }).code
    next(code === 'LIMIT_FIELD_VALUE' ? tooLarge(tooLargeText) : invalidParameters([formProblem(code)]))
  })
}

const formProblem = (code?: string) =>
  code === 'LIMIT_UNEXPECTED_FILE' ? 'file parts are not accepted' : 'the form is invalid'

const parsersOf = new Map<number, RequestHandler[]>()

function parsers(bytesMax: number): RequestHandler[] {
  const known = parsersOf.get(bytesMax)
  if (known) return known
  const made = [
    express.json({ limit: bytesMax, strict: false, type: isJson }),
    express.urlencoded({ extended: true, limit: bytesMax, parameterLimit: 10_000 }),
    multipart,
  ]
  parsersOf.set(bytesMax, made)
  return made
}

/** A body without a content type counts as JSON. */
const isJson = (request: { headers: { 'content-type'?: string } }) => {
  const type = request.headers['content-type']
  return type === undefined || /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)
}

/**
 * Reads a JSON, urlencoded or multipart body and merges it with query and path; the path wins over the
 * body, the body over the query. A JSON body that is no object counts as empty.
 *
 * @param longTextKey fields of this name in a large JSON body come as {@link LongText} when they are long
 * @throws DomainError for a content type nobody here reads; the parsers' own errors otherwise
 */
export async function readInput(
  request: Request,
  response: Response,
  bytesMax: number,
  longTextKey?: string,
): Promise<Record<string, unknown>> {
  if (hasBody(request)) {
    refuseUnknownType(request)
    refuseTooLarge(request, bytesMax)
    if (longTextKey !== undefined && isLargeJson(request)) {
      request.body = await readLargeJson(request, response, longTextKey)
    } else for (const parser of parsers(bytesMax)) await run(parser, request, response)
  }
  const body: unknown = request.body
  const fields = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {}
  const merged = { ...request.query, ...fields, ...request.params }
  refuseNulInPath(request.params)
  return merged
}

/** Compressed bodies and those of unknown length are left to the usual parsers. */
const isLargeJson = (request: Request) =>
  isJson(request) &&
  request.headers['content-encoding'] === undefined &&
  Number(request.headers['content-length'] ?? 0) > bodyBytesDefault

async function readLargeJson(request: Request, response: Response, longTextKey: string): Promise<unknown> {
  const length = Number(request.headers['content-length'])
  const body = await readLargeBody(request, length, (release) => {
    if (response.closed) release()
    else response.once('close', release)
  })
  try {
    return await parseLargeJson(body, longTextKey)
  } catch (error) {
    if (error instanceof SyntaxError) throw Object.assign(error, { type: 'entity.parse.failed' })
    throw error
  }
}

const hasBody = ({ headers }: Request) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

function refuseUnknownType(request: Request): void {
  const readable = isJson(request) || request.is('urlencoded') || request.is('multipart/form-data')
  if (readable) return
  const type = request.headers['content-type'] ?? ''
  throw new DomainError('unsupported-media-type', `The provided content-type '${type}' is not supported.`)
}

function refuseTooLarge(request: Request, bytesMax: number): void {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) {
    throw tooLarge(tooLargeText)
  }
}

function refuseNulInPath(params: Record<string, unknown>): void {
  const bad = Object.keys(params).filter((name) => String(params[name]).includes('\0'))
  if (bad.length > 0) throw invalidParameters(bad.map((name) => `${name} is invalid`))
}

const run = (parser: RequestHandler, request: Request, response: Response) =>
  new Promise<void>((resolve, reject) => {
    parser(request, response, (error?: unknown) => (error ? reject(error) : resolve()))
  })
