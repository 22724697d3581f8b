import { unavailable } from '@switchyard/domain'
import type { JsonReader } from '@switchyard/outbound-http'
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'

export interface KeyTimes {
  /** Time after which keys are read again. */
  freshMs: number
  /** Further time for which keys are used while the issuer is unreachable. */
  staleMs: number
  /** Shortest time between two attempts to read the keys of an issuer. */
  pauseMs: number
}

const keyTimes: KeyTimes = { freshMs: 10 * 60_000, staleMs: 60 * 60_000, pauseMs: 10_000 }

/** Limits for a document of an issuer. */
export const documentLimits = { timeoutMs: 5000, bytesMax: 256 * 1024 }

const keysMax = 100
const issuersMax = 1000

const discovery = z.object({ issuer: z.string(), jwks_uri: z.url() })
const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(keysMax) })

/**
 * Creates the function that finds the key with which an issuer has signed a token. The keys of an issuer are
 * read at the first token, again after some time, and when a token names an unknown key. Tokens that arrive
 * meanwhile wait for the same read.
 *
 * @returns the function for an issuer, which throws DomainError unavailable while there are no keys, and a
 * JOSEError without a match
 */
export function createIssuerKeys(
  reader: Pick<JsonReader, 'read'>,
  times: KeyTimes = keyTimes,
): (issuer: string) => JWTVerifyGetKey {
  const known = new LRUCache<string, JWTVerifyGetKey>({ max: issuersMax })
  return (issuer) => {
    const keys = known.get(issuer) ?? keysOf(issuer, reader, times)
    known.set(issuer, keys)
    return keys
  }
}

function keysOf(
  issuer: string,
  reader: Pick<JsonReader, 'read'>,
  { freshMs, staleMs, pauseMs }: KeyTimes,
): JWTVerifyGetKey {
  const readings = createReadings(async () => createLocalJWKSet(await readKeys(issuer, reader)), pauseMs)
  return async (header, token) => {
    if (readings.ageMs() > freshMs) await readings.again()
    if (readings.ageMs() > freshMs + staleMs)
      throw unavailable('the issuer of this token does not answer', { cause: readings.failure() })
    try {
      return await readings.latest()(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      await readings.again()
      return readings.latest()(header, token)
    }
  }
}

/** Keeps the latest result of a read that is repeated at most once in `pauseMs`. */
function createReadings<Result>(read: () => Promise<Result>, pauseMs: number) {
  let latest: { result: Result; readAtMs: number } | undefined
  let reading: Promise<void> | undefined
  let triedAtMs = Number.NEGATIVE_INFINITY
  let failure: unknown

  async function tryToRead(): Promise<void> {
    try {
      latest = { result: await read(), readAtMs: performance.now() }
    } catch (error) {
      failure = error
    } finally {
      triedAtMs = performance.now()
      reading = undefined
    }
  }

  return {
    /** Waits for the current read, or begins one unless another was just tried. Never rejects. */
    async again(): Promise<void> {
      if (reading === undefined && performance.now() - triedAtMs < pauseMs) return
      reading ??= tryToRead()
      await reading
    },
    /** Returns the age of the result; infinite before the first one. */
    ageMs: () => (latest ? performance.now() - latest.readAtMs : Number.POSITIVE_INFINITY),
    /**
     * Returns the latest result.
     *
     * @throws the latest failure, before the first result
     */
    latest(): Result {
      if (!latest) throw failure
      return latest.result
    },
    failure: () => failure,
  }
}

/** Reads the keys of an issuer by OpenID Connect Discovery. */
async function readKeys(issuer: string, { read }: Pick<JsonReader, 'read'>) {
  const document = discovery.parse(
    await read(new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)),
  )
  if (document.issuer !== issuer) throw new Error(`${issuer} says that it is ${document.issuer}`)
  const url = new URL(document.jwks_uri)
  const mayBeRead = url.protocol === 'https:' || (url.protocol === 'http:' && issuer.startsWith('http:'))
  if (!mayBeRead) throw new Error(`the keys of ${issuer} are not at an https URL`)
  return keySet.parse(await read(url))
}
