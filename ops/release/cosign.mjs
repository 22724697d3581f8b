import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'

/**
 * Runs cosign on a file, without calling a server, and writes its signature or attestation.
 *
 * @param command `sign-blob` or `attest-blob`
 * @param key file of a private key, whose password is in COSIGN_PASSWORD
 * @throws Error as execFileSync, with the message of cosign in `stderr`
 */
export function runCosign(command, key, { file, output }, ...args) {
  const options = ['--key', key, '--tlog-upload=false', '--yes', '--output-signature', output]
  execFileSync('cosign', [command, ...options, ...args, file], { stdio: ['ignore', 'ignore', 'pipe'] })
  // The file is for everybody, but cosign makes it readable by its owner only.
  chmodSync(output, 0o644)
}
