import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '@switchyard/config'
import { type Database, findCaller, inTransaction, type PrismaTransaction, type User } from '@switchyard/db'
import { lockName } from '@switchyard/db/sql'
import { hashToken } from '@switchyard/service-kit/http'
import type { Logger } from '@switchyard/service-kit/observability'
import pRetry, { type RetryContext } from 'p-retry'
import { createToken, deleteOtherTokens, findTokenByHash } from '../tokens/store.js'
import { newSecret } from '../tokens/tokens.js'
import { createUser, findUserByUsername } from './store.js'

interface Provisioning {
  /** Rejects until the work is done; for readiness. */
  check(): Promise<void>
  /** Stops trying. */
  close(): Promise<void>
}

const retrying = { retries: Number.POSITIVE_INFINITY, minTimeout: 250, maxTimeout: 5000 }

/**
 * Repeats work in the background until it succeeds, because a service also starts while its database is down.
 */
export function startProvisioning(work: () => Promise<void>, logger: Logger): Provisioning {
  let isDone = false
  const closing = new AbortController()
  const { signal } = closing

  const onFailedAttempt = ({ error, attemptNumber }: RetryContext) => {
    if (attemptNumber === 1) logger.warn({ err: error }, 'cannot provision yet, trying again')
  }

  // p-retry repeats no TypeError, which a library may throw while the database is down.
  const attempt = () =>
    work().catch((cause) => {
      throw new Error('cannot provision', { cause })
    })

  async function run(): Promise<void> {
    await pRetry(attempt, { ...retrying, signal, onFailedAttempt })
    isDone = true
  }

  // Only `close` ends the attempts before they succeed.
  const running = run().catch(() => undefined)
  return {
    async check() {
      if (!isDone) throw new Error('the administrator is not provisioned yet')
    },
    async close() {
      closing.abort()
      await running
    },
  }
}

interface AdministratorOptions {
  /** The token from the environment. */
  token?: string
  /** The file to which the token is written. */
  tokenFile?: string
}

const configuredName = 'SWITCHYARD_ROOT_TOKEN'
const generatedName = 'first start'

/**
 * Makes sure that the administrator `root` exists and has a working token. It is safe at every start and in
 * several replicas at once: a lock runs them one by one, and only the first has work to do.
 *
 * @throws Error when the database or the token file cannot be used
 */
export async function provisionAdministrator(
  database: Database,
  { token, tokenFile }: AdministratorOptions,
  logger: Logger,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    await lockName(transaction, 'switchyard.provisioning')
    const root = await getRoot(transaction, logger)
    if (token !== undefined) await useConfiguredToken(transaction, root, token, logger)
    if (tokenFile === undefined) {
      if (token === undefined) {
        logger.warn(
          'no new token for root: set SWITCHYARD_ROOT_TOKEN or SWITCHYARD_ROOT_TOKEN_KEPT_IN to get one',
        )
      }
      return
    }
    if (token !== undefined) await writeTokenFile(tokenFile, token)
    else await keepGeneratedToken(transaction, root, tokenFile, logger)
  })
}

async function getRoot(transaction: PrismaTransaction, logger: Logger): Promise<User> {
  const found = await findUserByUsername(transaction, 'root')
  if (found) return found
  logger.info('creating the administrator root')
  return createUser(transaction, {
    username: 'root',
    name: 'Administrator',
    email: 'root@localhost',
    admin: true,
  })
}

/**
 * Stores the token from the environment and deletes tokens that the environment named earlier. A revoked
 * token stays revoked.
 */
async function useConfiguredToken(
  transaction: PrismaTransaction,
  root: User,
  secret: string,
  logger: Logger,
): Promise<void> {
  const tokenHash = hashToken(secret)
  const token = { userId: root.id, name: configuredName, tokenHash }
  const replaced = await deleteOtherTokens(transaction, token)
  if (replaced > 0) logger.info('SWITCHYARD_ROOT_TOKEN has changed: the former token no longer works')
  const known = await findTokenByHash(transaction, tokenHash)
  if (!known) await createToken(transaction, { ...token, scopes: ['api'], expiresAt: null })
  else if (known.revokedAt !== null) {
    logger.warn('SWITCHYARD_ROOT_TOKEN was revoked and does not work: set another one')
  }
}

async function keepGeneratedToken(
  transaction: PrismaTransaction,
  root: User,
  tokenFile: string,
  logger: Logger,
): Promise<void> {
  if (root.state !== 'active') {
    logger.warn('root is blocked, so no token for root works')
    return
  }
  const kept = await readTokenFile(tokenFile)
  const holder = kept === null ? null : await findCaller(transaction, hashToken(kept))
  if (holder?.user.id === root.id) return
  const secret = newSecret()
  const token = { userId: root.id, name: generatedName, tokenHash: hashToken(secret) }
  await createToken(transaction, { ...token, scopes: ['api'], expiresAt: null })
  // The file is written before the row is committed, because a token without its file is lost.
  await writeTokenFile(tokenFile, secret)
  logger.info({ file: tokenFile }, 'a new token for root was written')
}

/** Returns the token in a file; null when the file is missing or empty. */
async function readTokenFile(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim() || null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Replaces the file atomically; only its owner may read it. */
async function writeTokenFile(path: string, token: string): Promise<void> {
  makeFolder(dirname(path))
  const temporary = `${path}.${randomUUID()}`
  try {
    await writeFile(temporary, `${token}\n`, { mode: 0o600, flag: 'wx' })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
