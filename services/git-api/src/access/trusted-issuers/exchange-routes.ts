import { anyone, type Call, endpoint, type Route, route, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { oauthAnswers, oauthReply } from '../../shapes/oauth.js'
import { optionalText } from '../../shapes/parameters.js'
import type { ExchangeDependencies } from './exchange.js'
import * as exchange from './exchange.js'

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
const subjectTypes = [
  'urn:ietf:params:oauth:token-type:jwt',
  'urn:ietf:params:oauth:token-type:id_token',
] as const
const accessType = 'urn:ietf:params:oauth:token-type:access_token'

const exchangedShape = z
  .object({
    access_token: z.string(),
    issued_token_type: z.literal(accessType),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ description: 'Seconds' }),
    scope: z.string().meta({ description: 'The scopes, separated by spaces' }),
  })
  .meta({
    id: 'ExchangedToken',
    description: 'A new token of a CI job; only this response contains its secret',
  })

export const exchangeRoutes = (deps: ExchangeDependencies): Route[] => [
  route('POST', '/oidc/exchange', anyone, exchangeToken(deps), { answerForm: oauthAnswers }),
]

/** The token exchange of RFC 8693. */
const exchangeToken = (deps: ExchangeDependencies) =>
  endpoint({
    summary: 'Exchange the identity token of a CI job for a token of an hour',
    replies: { 200: exchangedShape },
    input: z.object({
      grant_type: z.enum([grantType]),
      subject_token: text(16_384),
      subject_token_type: z.enum(subjectTypes),
      requested_token_type: z.enum([accessType]).optional(),
      resource: optionalText(text()).meta({
        description:
          'The project: its address, its full path or its id. Unset: the rules outside of projects count',
      }),
    }),
    async handle({ subject_token, resource }, _caller, call) {
      const given = { token: subject_token, project: resource && projectOf(resource, call) }
      const { secret, scopes } = await exchange.exchangeIdentity(deps, given, call)
      const answer = {
        access_token: secret,
        issued_token_type: accessType,
        token_type: 'Bearer',
        expires_in: exchange.exchangedSeconds,
        scope: scopes.join(' '),
      }
      return oauthReply(answer)
    },
  })

const projectOf = (resource: string, { baseUrl }: Call): string =>
  resource.startsWith(`${baseUrl}/`) ? resource.slice(baseUrl.length + 1).replace(/\.git$/, '') : resource
