import type { DatabaseOrTransaction } from '../client.js'

/** Any constant will do, as long as nothing else locks it. */
const provisioningLock = 7_237_001

/** Waits until no other process provisions; the lock ends with the transaction. */
export async function lockProvisioning({ prisma }: DatabaseOrTransaction): Promise<void> {
  await prisma.$executeRaw`SELECT pg_advisory_xact_lock(${provisioningLock})`
}
