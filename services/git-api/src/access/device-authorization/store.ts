import type {
  DatabaseOrTransaction,
  DeviceAuthorization,
  PersonalAccessToken,
  PrismaTransaction,
  User,
} from '@switchyard/db'
import { lockName, lockRow } from '@switchyard/db/sql'

/** SHA-256 of a code. */
type CodeHash = Uint8Array<ArrayBuffer>

/** Time for which an expired request is kept, so that its program learns that the codes have expired. */
const rememberedMs = 3_600_000

/**
 * Counts the undecided requests of all addresses and of one address, and deletes those that expired long ago.
 * Until the transaction ends, no other transaction counts or adds requests.
 */
export async function lockAndCountWaiting(
  transaction: PrismaTransaction,
  address: string,
): Promise<{ all: number; ofAddress: number }> {
  await lockName(transaction, 'switchyard.device_authorizations')
  const { prisma } = transaction
  const now = Date.now()
  await prisma.deviceAuthorization.deleteMany({ where: { expiresAt: { lt: new Date(now - rememberedMs) } } })
  const waiting = { allowed: null, expiresAt: { gt: new Date(now) } }
  return {
    all: await prisma.deviceAuthorization.count({ where: waiting }),
    ofAddress: await prisma.deviceAuthorization.count({ where: { ...waiting, address } }),
  }
}

export type NewDeviceAuthorization = Pick<
  DeviceAuthorization,
  'clientId' | 'scopes' | 'address' | 'expiresAt' | 'intervalSeconds'
> & { deviceCodeHash: CodeHash; userCodeHash: CodeHash }

export const createDeviceAuthorization = (
  { prisma }: DatabaseOrTransaction,
  request: NewDeviceAuthorization,
): Promise<DeviceAuthorization> => prisma.deviceAuthorization.create({ data: request })

const undecided = (userCodeHash: CodeHash) => ({
  userCodeHash,
  allowed: null,
  expiresAt: { gt: new Date() },
})

/** Returns the request with the code; null when it was decided or has expired. */
export const findUndecided = (
  { prisma }: DatabaseOrTransaction,
  userCodeHash: CodeHash,
): Promise<DeviceAuthorization | null> =>
  prisma.deviceAuthorization.findFirst({ where: undecided(userCodeHash) })

export type Decision = Pick<DeviceAuthorization, 'allowed' | 'tokenId'> &
  Partial<Pick<DeviceAuthorization, 'lastDay' | 'tenants'>>

/** @returns false when the request was decided before, or has expired */
export async function decide(
  { prisma }: DatabaseOrTransaction,
  userCodeHash: CodeHash,
  decision: Decision,
): Promise<boolean> {
  const { count } = await prisma.deviceAuthorization.updateMany({
    where: undecided(userCodeHash),
    data: decision,
  })
  return count > 0
}

export type LockedDeviceAuthorization = DeviceAuthorization & {
  /** The token of the session in which the request was decided. Null: nobody has decided yet. */
  token: (PersonalAccessToken & { user: User }) | null
}

/** Finds a request and locks it until the transaction ends, so that its program gets only one token. */
export async function lockByDeviceCode(
  transaction: PrismaTransaction,
  deviceCodeHash: CodeHash,
): Promise<LockedDeviceAuthorization | null> {
  await lockRow(transaction, 'device_authorizations', { device_code_hash: deviceCodeHash }, 'UPDATE')
  return transaction.prisma.deviceAuthorization.findUnique({
    where: { deviceCodeHash },
    include: { token: { include: { user: true } } },
  })
}

export const notePoll = (
  { prisma }: DatabaseOrTransaction,
  id: number,
  intervalSeconds: number,
): Promise<DeviceAuthorization> =>
  prisma.deviceAuthorization.update({ where: { id }, data: { polledAt: new Date(), intervalSeconds } })

export const deleteDeviceAuthorization = (
  { prisma }: DatabaseOrTransaction,
  id: number,
): Promise<DeviceAuthorization> => prisma.deviceAuthorization.delete({ where: { id } })
