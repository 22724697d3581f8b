import { createPublicKey } from 'node:crypto'
import { createServer } from 'node:http'
import { identityTokenProblem } from '@switchyard/domain/access'
import { createJsonReader, targetPolicy } from '@switchyard/outbound-http'
import { type JobIssuer, startJobIssuer, waitFor } from '@switchyard/testing'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createIssuerKeys, documentLimits, type KeyTimes } from '../src/job-identity/issuer-keys.js'
import { createVerifyToken, namedIssuer } from '../src/job-identity/verify.js'

const local = targetPolicy({ WEBHOOK_ALLOWED_HOSTS: '127.0.0.1', WEBHOOK_ALLOW_PRIVATE_NETWORKS: false })
const soon: KeyTimes = { freshMs: 60_000, staleMs: 60_000, pauseMs: 0 }

let issuer: JobIssuer
const closing: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  issuer = await startJobIssuer()
  closing.push(() => issuer.close())
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close().catch(() => {})
})

function verifier(times: KeyTimes = soon, policy = local, limits = documentLimits) {
  const reader = createJsonReader({ policy, ...limits })
  closing.push(() => reader.close())
  const verify = createVerifyToken(createIssuerKeys(reader, times))
  return (token: string, of = issuer.url) => verify(token, of)
}

const claims = { sub: 'repo:acme/engine', aud: 'switchyard' }
/** Returns the code of the error with which a token is refused. */
const refusalOf = (verified: Promise<unknown>) =>
  verified.then(
    () => null,
    (error: { code?: string }) => error.code,
  )
const now = () => Math.floor(Date.now() / 1000)

describe('a token', () => {
  it('of the issuer is valid, and has its content', async () => {
    const token = await issuer.token({ ...claims, aud: ['other', 'switchyard'], run_id: 7 })
    expect(namedIssuer(token)).toBe(issuer.url)
    expect(await verifier()(token)).toMatchObject({
      issuer: issuer.url,
      audiences: ['other', 'switchyard'],
      claims: { sub: 'repo:acme/engine', run_id: 7 },
    })
  })

  it.each([
    ['expired', () => ({ iat: now() - 600, exp: now() - 120 })],
    ['of the future', () => ({ iat: now() + 120, exp: now() + 300 })],
    ['not valid yet', () => ({ nbf: now() + 120 })],
    ['older than an hour', () => ({ iat: now() - 3700, exp: now() + 600 })],
    ['without an end', () => ({ exp: undefined })],
    ['without a beginning', () => ({ iat: undefined })],
    ['without a subject', () => ({ sub: undefined })],
    ['without an audience', () => ({ aud: undefined })],
    ['with a text for a time', () => ({ exp: '2999' })],
    ['with a text for its beginning', () => ({ iat: '1' })],
    ['with a text for a time before', () => ({ nbf: '1' })],
  ])('%s is not valid, with the same code as in the browser', async (_what, changes) => {
    const token = await issuer.token({ ...claims, ...changes() })
    const code = await refusalOf(verifier()(token))
    expect(code).toMatch(/^ERR_JWT_(EXPIRED|CLAIM_VALIDATION_FAILED)$/)
    expect(identityTokenProblem(decodeProtectedHeader(token), decodeJwt(token), now())?.code).toBe(code)
  })

  it('of another issuer is not valid', async () => {
    const token = await issuer.token({ ...claims, iss: 'https://other.example.com' })
    expect(await refusalOf(verifier()(token))).toBe('ERR_JWT_CLAIM_VALIDATION_FAILED')
  })

  it('is valid with a clock that is half a minute off', async () => {
    const verify = verifier()
    for (const times of [
      { iat: now() + 30, nbf: now() + 30 },
      { iat: now() - 300, exp: now() - 30 },
    ]) {
      const token = await issuer.token({ ...claims, ...times })
      await verify(token)
      expect(identityTokenProblem(decodeProtectedHeader(token), decodeJwt(token), now())).toBeNull()
    }
  })

  it('that was changed, or signed by another key with the same id, is not valid', async () => {
    const [header = '', , signature = ''] = (await issuer.token(claims)).split('.')
    const body = Buffer.from(JSON.stringify({ ...claims, iss: issuer.url, iat: now(), exp: now() + 300 }))
    const verify = verifier()
    const changed = verify(`${header}.${body.toString('base64url')}.${signature}`)
    expect(await refusalOf(changed)).toBe('ERR_JWS_SIGNATURE_VERIFICATION_FAILED')
    const other = await startJobIssuer()
    closing.push(() => other.close())
    const stranger = await other.keys.generate('RS256', { kid: issuer.kid })
    const forged = await other.token({ ...claims, iss: issuer.url }, { kid: stranger.kid })
    expect(await refusalOf(verify(forged))).toBe('ERR_JWS_SIGNATURE_VERIFICATION_FAILED')
  })

  it('with a symmetric algorithm is not valid, because the public key is not a secret', async () => {
    const jwk = issuer.keys.toJSON()[0] as unknown as Parameters<typeof createPublicKey>[0]
    const key = createPublicKey({ key: jwk, format: 'jwk' } as never)
    for (const secret of [key.export({ type: 'spki', format: 'pem' }), JSON.stringify(jwk)]) {
      const forged = await new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'HS256', kid: issuer.kid })
        .setIssuer(issuer.url)
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(new TextEncoder().encode(String(secret)))
      expect(await refusalOf(verifier()(forged))).toBe('ERR_JOSE_ALG_NOT_ALLOWED')
      const [header, body] = [decodeProtectedHeader(forged), decodeJwt(forged)]
      expect(identityTokenProblem({ ...header }, body, now())?.code).toBe('ERR_JOSE_ALG_NOT_ALLOWED')
    }
  })

  it('without a signature, without an issuer, or too long, is refused', async () => {
    const parts = (await issuer.token(claims)).split('.')
    const none = Buffer.from(JSON.stringify({ alg: 'none', kid: issuer.kid })).toString('base64url')
    expect(await refusalOf(verifier()(`${none}.${parts[1]}.`))).toBe('ERR_JOSE_ALG_NOT_ALLOWED')
    expect(identityTokenProblem({ alg: 'none' }, {}, now())?.code).toBe('ERR_JOSE_ALG_NOT_ALLOWED')
    expect(namedIssuer('eyJ.eyJ.x')).toBeNull()
    expect(namedIssuer(await issuer.token({ ...claims, filling: 'x'.repeat(8192) }))).toBeNull()
  })

  it('is verified once', async () => {
    const verify = verifier({ freshMs: 0, staleMs: 60_000, pauseMs: 0 })
    const token = await issuer.token(claims)
    await verify(token)
    const reads = issuer.reads()
    for (let count = 0; count < 5; count += 1) await verify(token)
    expect(issuer.reads()).toBe(reads)
  })
})

describe('the keys of an issuer', () => {
  it('are read once for many simultaneous tokens', async () => {
    const verify = verifier()
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, at) => issuer.token({ ...claims, at })))
    expect((await Promise.all(tokens.map((token) => verify(token)))).every(Boolean)).toBe(true)
    expect(issuer.reads()).toBe(1)
  })

  it('are read again for a new key', async () => {
    const verify = verifier()
    await verify(await issuer.token(claims))
    const { kid } = await issuer.keys.generate('ES256')
    await verify(await issuer.token(claims, { kid }))
    expect(issuer.reads()).toBe(2)
  })

  it('are not read again for each token with an unknown key', async () => {
    const verify = verifier({ ...soon, pauseMs: 60_000 })
    await verify(await issuer.token(claims))
    const { kid } = await issuer.keys.generate('RS256')
    for (let count = 0; count < 5; count += 1) {
      const token = await issuer.token({ ...claims, count }, { kid })
      expect(await refusalOf(verify(token))).toBe('ERR_JWKS_NO_MATCHING_KEY')
    }
    expect(issuer.reads()).toBe(1)
  })

  it('remain valid while the issuer is unreachable, for a limited time', async () => {
    const verify = verifier({ freshMs: 0, staleMs: 1000, pauseMs: 0 })
    await verify(await issuer.token(claims))
    await issuer.close()
    expect(await verify(await issuer.token({ ...claims, run_id: 2 }))).toMatchObject({ issuer: issuer.url })
    let run = 3
    const isRefused = async () => {
      run += 1
      const refusal = await verify(await issuer.token({ ...claims, run_id: run })).catch((error) => error)
      return refusal.kind === 'unavailable'
    }
    await waitFor(isRefused, { what: 'the keys to end' })
  })

  it('are missing until the issuer answers for the first time', async () => {
    const { port, url } = issuer
    const token = await issuer.token(claims)
    await issuer.close()
    const verify = verifier()
    await expect(verify(token)).rejects.toMatchObject({ kind: 'unavailable' })
    issuer = await startJobIssuer(port)
    expect(await verify(await issuer.token(claims), url)).toMatchObject({ issuer: url })
  })

  it('are not read from addresses that webhooks may not reach', async () => {
    const policy = targetPolicy({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: false })
    await expect(verifier(soon, policy)(await issuer.token(claims))).rejects.toMatchObject({
      kind: 'unavailable',
      cause: expect.objectContaining({ message: expect.stringContaining('is not a public address') }),
    })
    expect(issuer.reads()).toBe(0)
  })

  it.each([
    ['that says it is another one', { issuer: 'https://other.example.com', jwks_uri: 'http://127.0.0.1/' }],
    ['without keys', { issuer: 'ITSELF' }],
    ['with too large a document', { issuer: 'ITSELF', filling: 'x'.repeat(300_000) }],
    ['that redirects', null],
  ])('are refused from an issuer %s', async (_what, document) => {
    const server = createServer((_request, response) => {
      if (!document) return response.writeHead(302, { Location: issuer.url }).end()
      const { port } = server.address() as { port: number }
      response.end(JSON.stringify(document).replace('ITSELF', `http://127.0.0.1:${port}`))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => new Promise((resolve) => server.close(resolve)))
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
    const token = await issuer.token({ ...claims, iss: url })
    await expect(verifier()(token, url)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('are waited for no longer than the time limit', async () => {
    const server = createServer(() => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(async () => server.close().closeAllConnections())
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
    const verify = verifier(soon, local, { ...documentLimits, timeoutMs: 200 })
    await expect(verify(await issuer.token({ ...claims, iss: url }), url)).rejects.toMatchObject({
      kind: 'unavailable',
    })
  })
})
