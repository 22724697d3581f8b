/** The exit codes of the command. docs/command-line.md lists them, and scripts rely on them. */
export const exitCodes = {
  failed: 1,
  usage: 2,
  notSignedIn: 3,
  forbidden: 4,
  notFound: 5,
  conflict: 6,
  rateLimited: 7,
  unreachable: 8,
  notSucceeded: 9,
  interrupted: 130,
} as const

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The error that ends the command with one sentence, which says what to do. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly exitCode: ExitCode,
  ) {
    super(message)
  }
}

export const usageFailure = (message: string) => new Failure(message, exitCodes.usage)

/** Returns the failure for a refusal of the API. */
export function refusalFailure(status: number, body: unknown, url: string): Failure {
  const told = sentenceOf(body)
  if (told === '') {
    if (status >= 500)
      return new Failure(
        `the server at ${url} answered ${status}: try again in a moment`,
        exitCodes.unreachable,
      )
    return new Failure(
      `${url} answered ${status} as Switchyard never does: check the address, SWITCHYARD_URL or "switchyard login"`,
      exitCodes.unreachable,
    )
  }
  if (status === 401)
    return new Failure(
      'the token does not work: it is wrong, expired or revoked; sign in again with "switchyard login", or set SWITCHYARD_TOKEN',
      exitCodes.notSignedIn,
    )
  const { exitCode, advice } =
    refusals[status] ?? (status >= 500 ? serverFailed : { exitCode: exitCodes.failed })
  const isAdvised = advice && !told.startsWith(refusalWithReason)
  return new Failure(isAdvised ? `${told}: ${advice}` : told, exitCode)
}

/**
 * Beginning of a refusal with its own reason, such as a frozen environment. A higher role would not help
 * then.
 */
const refusalWithReason = '403 Forbidden - '

interface Refusal {
  exitCode: ExitCode
  advice?: string
}

const serverFailed: Refusal = { exitCode: exitCodes.unreachable, advice: 'try again in a moment' }
const invalid: Refusal = { exitCode: exitCodes.usage }
const outdated: Refusal = { exitCode: exitCodes.conflict }

const refusals: Record<number, Refusal> = {
  400: invalid,
  403: {
    exitCode: exitCodes.forbidden,
    advice: 'ask for the role, or use a token with the scope ("switchyard whoami" shows yours)',
  },
  404: { exitCode: exitCodes.notFound, advice: 'check the name, and that this token may see it' },
  409: outdated,
  412: outdated,
  413: invalid,
  422: invalid,
  429: { exitCode: exitCodes.rateLimited, advice: 'wait a minute and try again' },
  507: { exitCode: exitCodes.unreachable, advice: 'tell the operator that the server has no room' },
}

/**
 * Returns the sentence of a refusal: a text, a list, or problems by field. Empty when the body is not in a
 * form of Switchyard.
 */
function sentenceOf(body: unknown): string {
  if (typeof body !== 'object' || body === null) return ''
  const { message, error, error_description: description, scope } = body as Record<string, unknown>
  if (error === 'insufficient_scope')
    return `this takes a token with one of the scopes ${flatten(scope).split(' ').join(', ')}`
  return flatten(description ?? message ?? error)
}

function flatten(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(flatten).join('; ')
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([field, problem]) => `${field} ${flatten(problem)}`)
    .join('; ')
}

const away = 'check the address and the network'
const untrusted =
  'if its authority is your own, NODE_EXTRA_CA_CERTS names the file of its certificate (never switch the check off)'

const networkProblems: Record<string, string> = {
  ECONNREFUSED: `nothing listens at URL: ${away}`,
  ENOTFOUND: `there is no host of URL: ${away}`,
  EAI_AGAIN: `the name of URL cannot be looked up now: ${away}`,
  EHOSTUNREACH: `no way leads to URL: ${away}`,
  ENETUNREACH: `no way leads to URL: ${away}`,
  CERT_HAS_EXPIRED: 'the certificate of URL has expired: tell the operator',
  CERT_NOT_YET_VALID: 'the certificate of URL is not valid yet: check the clock of this machine',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of URL is for another name: check the address',
  DEPTH_ZERO_SELF_SIGNED_CERT: `the certificate of URL is not trusted: ${untrusted}`,
  SELF_SIGNED_CERT_IN_CHAIN: `the certificate of URL is not trusted: ${untrusted}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `the certificate of URL is not trusted: ${untrusted}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `the certificate of URL is not trusted: ${untrusted}`,
  ERR_SSL_WRONG_VERSION_NUMBER: 'URL does not speak TLS: write http:// instead of https://',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'URL does not speak TLS: write http:// instead of https://',
}

/** Returns the failure for a request without an answer. */
export function networkFailure(error: unknown, url: string): Failure {
  const code = codesOf(error).find((each) => each in networkProblems)
  const text =
    networkProblems[code ?? ''] ?? `URL does not answer (${codesOf(error)[0] ?? 'connection lost'}): ${away}`
  return new Failure(text.replace('URL', url), exitCodes.unreachable)
}

/**
 * Returns the codes of an error and of its causes, because `fetch` and attempts at several addresses hide
 * them.
 */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const { code, cause, errors = [] } = error as { code?: unknown; cause?: unknown; errors?: unknown[] }
  return [...(typeof code === 'string' ? [code] : []), ...codesOf(cause), ...errors.flatMap(codesOf)]
}

const fileProblems: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user may not use it',
  EPERM: 'this user may not use it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is no folder',
  EROFS: 'the file system cannot be written',
  ENOSPC: 'the disk is full: make room and try again',
  EDQUOT: 'your quota of the disk is used up: make room and try again',
}

/** Returns the failure for a file that could not be read or written; undefined for other errors. */
export function fileFailure(error: unknown): Failure | undefined {
  const { code = '', path = 'the output' } = (error ?? {}) as { code?: string; path?: string }
  const problem = fileProblems[code]
  return problem ? new Failure(`${path}: ${problem}`, exitCodes.failed) : undefined
}
