import { notFound } from '@switchyard/domain'
import { scopes as allScopes, type Caller, dayText, endOfDay, type Scope } from '@switchyard/domain/access'
import {
  anyone,
  documented,
  endpoint,
  type Guard,
  noContent,
  ok,
  oneOf,
  type Route,
  route,
  signedIn,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { oauthAnswers, oauthRefusal, oauthReply } from '../../shapes/oauth.js'
import { optionalText } from '../../shapes/parameters.js'
import type { DeviceDependencies, NoToken } from './device-authorization.js'
import * as deviceAuthorization from './device-authorization.js'

/**
 * Returns the routes of the device authorization grant (RFC 8628) at GitLab's addresses, and of its page in
 * the console.
 */
export function deviceAuthorizationRoutes(deps: DeviceDependencies): Route[] {
  const { program, person } = guardsOf(deps)
  const outside = { outsideApi: true, answerForm: oauthAnswers }
  const address = '/user/device_authorization'
  return [
    route('POST', '/oauth/authorize_device', program, authorizeDevice(deps), outside),
    route('POST', '/oauth/token', program, giveToken(deps), outside),
    route('GET', address, person, showRequest(deps)),
    route('POST', `${address}/allow`, person, decideRequest(deps, true)),
    route('POST', `${address}/deny`, person, decideRequest(deps, false)),
  ]
}

/**
 * Returns a guard for everybody and a guard for signed-in users. Both answer 404 unless
 * DEVICE_TOKEN_LIFETIME_DAYS is set.
 */
function guardsOf({ deviceTokenDays }: DeviceDependencies) {
  const whereOn = <Access>(guard: Guard<Access>): Guard<Access> =>
    documented(guard.documents ?? {}, (call) => {
      if (deviceTokenDays === undefined) throw notFound()
      return guard(call)
    })
  return { program: whereOn(anyone), person: whereOn(signedIn) }
}

/**
 * Names of programs are printable ASCII (RFC 6749, appendix A), so no character can reorder the text around
 * them.
 */
const clientId = () =>
  text(100).refine((name) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(name), { error: 'is invalid' })

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

const authorizeDevice = (deps: DeviceDependencies) =>
  endpoint({
    input: z.object({
      client_id: clientId(),
      scope: optionalText(text()),
    }),
    async handle({ client_id, scope = 'read_api' }, _caller, call) {
      const scopes = [...new Set(scope.split(' ').filter((word) => word !== ''))]
      const unknown = scopes.some((each) => !(allScopes as readonly string[]).includes(each))
      if (unknown) return oauthRefusal('invalid_scope', `The scopes are ${allScopes.join(', ')}`)
      const given = { clientId: client_id, scopes: scopes as Scope[] }
      const { deviceCode, userCode } = await deviceAuthorization.beginAuthorization(deps, given, call)
      const page = `${call.baseUrl}/console/device`
      return oauthReply({
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=${userCode}`,
        expires_in: deviceAuthorization.requestSeconds,
        interval: deviceAuthorization.intervalSeconds,
      })
    },
  })

const reasons: Record<NoToken, string> = {
  authorization_pending: 'Nobody has allowed it yet',
  slow_down: 'Ask less often',
  access_denied: 'It was denied',
  expired_token: 'The code has ended',
  invalid_grant: 'The code is wrong, or was used before',
}

const giveToken = (deps: DeviceDependencies) =>
  endpoint({
    input: z.object({
      grant_type: text(),
      client_id: clientId().optional(),
      device_code: text().optional(),
    }),
    async handle({ grant_type, client_id, device_code }, _caller, call) {
      if (grant_type !== deviceGrant)
        return oauthRefusal('unsupported_grant_type', `The only grant type is ${deviceGrant}`)
      if (client_id === undefined || device_code === undefined)
        return oauthRefusal('invalid_request', 'client_id or device_code is missing')
      const given = { clientId: client_id, deviceCode: device_code }
      const result = await deviceAuthorization.redeemDeviceCode(deps, given, call)
      if (typeof result === 'string') return oauthRefusal(result, reasons[result])
      const { secret, scopes, lastDay } = result
      const lifeMs = lastDay && endOfDay(lastDay).getTime() - Date.now()
      return oauthReply({
        access_token: secret,
        token_type: 'Bearer',
        scope: scopes.join(' '),
        ...(lifeMs !== null && { expires_in: Math.floor(lifeMs / 1000) }),
      })
    },
  })

const requestShape = z
  .object({
    client_name: z
      .string()
      .meta({ description: 'The name that the program gives itself; it is not verified' }),
    scopes: z.array(oneOf(allScopes)),
    ip_address: z.string().meta({ description: 'The IP address of the program' }),
    created_at: z.date(),
    expires_at: z.date().meta({ description: 'The expiry time of the code' }),
    token_expires_at: z
      .string()
      .meta({ format: 'date', description: 'The last day on which the token is valid' }),
  })
  .meta({ id: 'DeviceAuthorization', description: 'A program that requests a token of the caller' })

const userCode = () => text(64).meta({ description: 'The code that the program shows' })

const showRequest = (deps: DeviceDependencies) =>
  endpoint({
    summary: 'Get the device authorization request of a code; requires a browser session',
    replies: { 200: requestShape },
    input: z.object({ user_code: userCode() }),
    async handle({ user_code }, caller: Caller, call) {
      const { request, lastDay } = await deviceAuthorization.getUndecided(deps, caller, user_code, call)
      return ok({
        client_name: request.clientId,
        scopes: request.scopes as Scope[],
        ip_address: request.address,
        created_at: request.createdAt,
        expires_at: request.expiresAt,
        token_expires_at: dayText(lastDay),
      } satisfies z.output<typeof requestShape>)
    },
  })

const decideRequest = (deps: DeviceDependencies, isAllowed: boolean) =>
  endpoint({
    summary: isAllowed
      ? 'Approve a device authorization request; requires a browser session'
      : 'Deny a device authorization request; requires a browser session',
    replies: { 204: null },
    input: z.object({ user_code: userCode() }),
    async handle({ user_code: typed }, caller: Caller, call) {
      await deviceAuthorization.decideAuthorization(deps, caller, { typed, isAllowed }, call)
      return noContent()
    },
  })
