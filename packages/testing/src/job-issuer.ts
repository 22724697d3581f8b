import { OAuth2Server } from 'oauth2-mock-server'

export type JobClaims = Record<string, unknown>

/**
 * Starts an issuer of identity tokens on loopback, with discovery and keys.
 *
 * @param port unset: any
 */
export async function startJobIssuer(port?: number) {
  const server = new OAuth2Server()
  const { kid } = await server.issuer.keys.generate('RS256')
  let reads = 0
  server.service.on('beforeWellKnownOpenIdConfiguration', () => {
    reads += 1
  })
  await server.start(port, '127.0.0.1')
  const url = `http://127.0.0.1:${server.address().port}`
  server.issuer.url = url
  return {
    url,
    port: server.address().port,
    kid,
    keys: server.issuer.keys,
    /** Returns how often the discovery document was read. */
    reads: () => reads,
    /** Signs a token of five minutes. Claims that are undefined are left out. */
    token(claims: JobClaims, { kid: signer }: { kid?: string } = {}): Promise<string> {
      // A closed server has forgotten its address.
      server.issuer.url = url
      return server.issuer.buildToken({
        kid: signer,
        scopesOrTransform: (header, payload) => {
          const given = { ...payload, exp: payload.iat + 300, ...claims }
          for (const name of Object.keys(payload)) Reflect.deleteProperty(payload, name)
          Object.assign(payload, JSON.parse(JSON.stringify(given)))
          Object.assign(header, { typ: 'JWT' })
        },
      })
    },
    close: () => server.stop(),
  }
}

export type JobIssuer = Awaited<ReturnType<typeof startJobIssuer>>
