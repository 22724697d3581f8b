// Downloads the programs of the trial in the network of this machine, because the trial has its own network
// without a way out.
import { findOnPath } from '../../packages/local-servers/src/tools/find-on-path.js'
import { containers, findProgram } from './programs.js'

if (process.getuid?.() !== 0 || !findOnPath('apt-get') || !findOnPath('unshare') || !findOnPath('openssl'))
  throw new Error('this trial needs root on Debian, and `apt-get install util-linux iproute2 openssl`')
for (const container of containers) await findProgram(container)
