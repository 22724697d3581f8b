import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SolvableProblem } from '@switchyard/terminal'

/**
 * Returns the keys that encrypt the secrets of webhooks: those of the environment, otherwise a key that the
 * first start creates and stores in the data folder, readable by its owner only. Without this key, the
 * secrets in the database cannot be decrypted.
 */
export function webhookSecretKeys(dataDir: string, configured: string | undefined): string {
  if (configured) return configured
  const file = join(dataDir, 'webhook-secret-keys')
  try {
    writeFileSync(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const kept = readFileSync(file, 'utf8').trim()
  if (kept === '')
    throw new SolvableProblem(`${file} is empty: write the keys of the webhooks into it, or delete it`)
  return kept
}
