import { hostname } from 'node:os'
import {
  allowInsecureRequests,
  Configuration,
  customFetch,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
  ResponseBodyError,
} from 'openid-client'
import { fetchInTurn } from './api.js'
import { isToken } from './credentials.js'
import { exitCodes, Failure, networkFailure, usageFailure } from './failure.js'
import { oneLine } from './output.js'
import { say, sayWaiting } from './session.js'

/** Returns the name of the token, by which people recognize this machine in the list of their tokens. */
const programName = () =>
  `switchyard on ${
    hostname()
      .replace(/[^\x21-\x7e]+/g, '-')
      .slice(0, 64) || 'a machine'
  }`

/**
 * Gets a token that a person allows on a page of the console, in a browser on this machine or another (RFC
 * 8628).
 *
 * @returns undefined when the instance does not let users give programs a token
 */
export async function loginByBrowser(url: string, scopes: readonly string[]): Promise<string | undefined> {
  const config = configurationOf(url)
  const device = await begin(config, url, scopes)
  if (!device) return undefined
  const minutes = Math.ceil(device.expires_in / 60)
  say(
    `• open this page within ${minutes} minutes:\n\n    ${oneLine(device.verification_uri_complete ?? device.verification_uri)}\n`,
  )
  say(`• allow ${oneLine(device.user_code)} there if it is the code that the page shows`)
  try {
    const { access_token: token } = await pollDeviceAuthorizationGrant(config, device)
    if (!isToken(token)) throw noSwitchyard(url)
    return token
  } catch (error) {
    throw failureOf(error, url)
  }
}

function configurationOf(url: string): Configuration {
  const addresses = {
    issuer: url,
    device_authorization_endpoint: `${url}/oauth/authorize_device`,
    token_endpoint: `${url}/oauth/token`,
  }
  const config = new Configuration(addresses, programName(), undefined, None())
  const send = fetchInTurn(url, sayWaiting)
  config[customFetch] = (address, { body, ...options }) =>
    send(
      new Request(address, {
        ...options,
        ...(body != null && { body: body as NonNullable<RequestInit['body']> }),
      }),
    )
  // The person has named an address with http, as for a token that they enter.
  if (url.startsWith('http:')) allowInsecureRequests(config)
  return config
}

async function begin(config: Configuration, url: string, scopes: readonly string[]) {
  try {
    return await initiateDeviceAuthorization(config, { scope: scopes.join(' ') })
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw failureOf(error, url)
  }
}

/** Returns the HTTP status of an error of the protocol, or of an answer outside of the protocol. */
function statusOf(error: unknown): number | undefined {
  if (error instanceof ResponseBodyError) return error.status
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Response ? cause.status : undefined
}

const tooLate = new Failure('nobody has allowed it in time: sign in again', exitCodes.notSignedIn)

const refusals: Record<string, Failure> = {
  access_denied: new Failure('it was denied in the browser', exitCodes.forbidden),
  expired_token: tooLate,
  invalid_grant: tooLate,
}

function failureOf(error: unknown, url: string): Failure {
  const known = causesOf(error).find((each) => each instanceof Failure)
  if (known) return known
  const status = statusOf(error) ?? 0
  if (status >= 500)
    return new Failure(
      `the server at ${url} answered ${status}: try again in a moment`,
      exitCodes.unreachable,
    )
  if (status === 429)
    return new Failure('there are too many requests: wait a minute and try again', exitCodes.rateLimited)
  if (error instanceof ResponseBodyError)
    return refusals[error.error] ?? usageFailure(error.error_description ?? error.error)
  if (causesOf(error).some(({ name }) => name === 'TimeoutError')) return tooLate
  if (status > 0) return noSwitchyard(url)
  return networkFailure(error, url)
}

const noSwitchyard = (url: string) =>
  new Failure(`${url} answered as Switchyard never does: check the address`, exitCodes.unreachable)

const causesOf = (error: unknown): Error[] =>
  error instanceof Error ? [error, ...causesOf(error.cause)] : []
