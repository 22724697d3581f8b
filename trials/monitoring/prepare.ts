// Fetches what the trial runs, in the network of this machine: the trial has one of its own, without a way
// out.
import { findOnPath } from '../../packages/local-servers/src/tools/find-on-path.js'
import { containers, findProgram } from './programs.js'

if (process.getuid?.() !== 0 || !findOnPath('apt-get') || !findOnPath('unshare') || !findOnPath('openssl'))
  throw new Error('this trial needs root on Debian, and `apt-get install util-linux iproute2 openssl`')
for (const container of containers) await findProgram(container)
