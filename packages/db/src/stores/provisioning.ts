import type { DatabaseOrTransaction } from '../client.js'

/** An arbitrary number that no other lock uses. */
const provisioningLock = 7_237_001

/** Waits until no other process provisions. The lock ends with the transaction. */
export async function lockProvisioning({ prisma }: DatabaseOrTransaction): Promise<void> {
  await prisma.$executeRaw`SELECT pg_advisory_xact_lock(${provisioningLock})`
}
