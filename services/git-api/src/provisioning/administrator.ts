import {
  createToken,
  createUser,
  type Database,
  type DatabaseOrTransaction,
  deleteOtherTokens,
  findCaller,
  findTokenByHash,
  findUserByUsername,
  inTransaction,
  lockProvisioning,
  type User,
} from '@switchyard/db'
import { hashToken } from '@switchyard/service-kit/http'
import type { Logger } from '@switchyard/service-kit/observability'
import { newSecret } from '../use-cases/issue-token.js'
import { readTokenFile, writeTokenFile } from './token-file.js'

export interface AdministratorOptions {
  /** The token that the environment names. */
  token?: string
  /** The file for the token. */
  tokenFile?: string
}

const configuredName = 'SWITCHYARD_ROOT_TOKEN'
const generatedName = 'first start'

/**
 * Makes sure that the administrator `root` exists and has a token that works. Safe at every start and in any number of
 * replicas at once: they take turns by a lock, and only the first has work.
 *
 * @throws Error when the database or the token file cannot be used
 */
export async function provisionAdministrator(
  database: Database,
  { token, tokenFile }: AdministratorOptions,
  logger: Logger,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    await lockProvisioning(transaction)
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

async function getRoot(transaction: DatabaseOrTransaction, logger: Logger): Promise<User> {
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

/** A revoked token stays revoked. A token that the environment no longer names is deleted. */
async function useConfiguredToken(
  transaction: DatabaseOrTransaction,
  root: User,
  secret: string,
  logger: Logger,
): Promise<void> {
  const tokenHash = hashToken(secret)
  const token = { userId: root.id, name: configuredName, tokenHash }
  const replaced = await deleteOtherTokens(transaction, token)
  if (replaced > 0) logger.info('SWITCHYARD_ROOT_TOKEN has changed: the one before no longer works')
  const known = await findTokenByHash(transaction, tokenHash)
  if (!known) await createToken(transaction, { ...token, scopes: ['api'], expiresAt: null })
  else if (known.revokedAt !== null) {
    logger.warn('SWITCHYARD_ROOT_TOKEN was revoked and does not work: set another one')
  }
}

async function keepGeneratedToken(
  transaction: DatabaseOrTransaction,
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
  // Before the row is committed, because a token without its file is lost.
  await writeTokenFile(tokenFile, secret)
  logger.info({ file: tokenFile }, 'a new token for root was written')
}
