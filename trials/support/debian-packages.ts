import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { execa } from 'execa'

/** Prevents Debian from starting the servers of installed packages. */
const policy = '/usr/sbin/policy-rc.d'

/**
 * Installs missing packages when this process is root on Debian; otherwise throws the command to type.
 *
 * @param needed names of packages, each with a file that it contains
 */
export async function ensureDebianPackages(needed: Record<string, string>): Promise<void> {
  const missing = Object.entries(needed)
    .filter(([, file]) => !existsSync(file))
    .map(([name]) => name)
  if (missing.length === 0) return
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version'))
    throw new Error(`missing on this machine: type "apt-get install -y ${missing.join(' ')}" (Debian 12)`)
  const ours = !existsSync(policy)
  if (ours) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    const env = { DEBIAN_FRONTEND: 'noninteractive' }
    const apt = (...args: string[]) => execa('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], { env })
    await apt('update')
    await apt('install', '--yes', '--no-install-recommends', ...missing)
  } finally {
    if (ours) rmSync(policy)
  }
}
