import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'

/**
 * Runs cosign on a file, which asks no server, and writes its signature or attestation.
 *
 * @param command `sign-blob` or `attest-blob`
 * @param key file of a private key, whose password is in COSIGN_PASSWORD
 * @throws Error as execFileSync, with what cosign says in `stderr`
 */
export function runCosign(command, key, { file, output }, ...args) {
  const options = ['--key', key, '--tlog-upload=false', '--yes', '--output-signature', output]
  execFileSync('cosign', [command, ...options, ...args, file], { stdio: ['ignore', 'ignore', 'pipe'] })
  // For everybody; cosign lets its owner alone read it.
  chmodSync(output, 0o644)
}
