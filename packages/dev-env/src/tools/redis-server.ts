import { execa } from 'execa'
import { SetupProblem } from '../problem.js'
import { type AptTool, fetchAptCopy, findAptCopy } from './apt-copy.js'
import { findOnPath } from './find-on-path.js'

const tool: AptTool = {
  name: 'redis-server',
  packages: ['redis-server', 'valkey-server'],
  binaries: ['usr/bin/redis-server', 'usr/bin/redis-check-rdb', 'usr/bin/valkey-server'],
}

/**
 * A Redis (or Valkey) to start: from PATH, else the copy below `toolsDir`, else fetched there by apt without root.
 * Never an imitation: when there is none, the error names what to type.
 */
export async function findRedisServer(
  toolsDir: string,
  log: (line: string) => void = () => {},
): Promise<string> {
  const present = findOnPath('redis-server', 'valkey-server') ?? findAptCopy(tool, toolsDir)
  if (present) return present
  log('fetching Redis with apt for later starts')
  try {
    const launcher = await fetchAptCopy(tool, toolsDir)
    await execa(launcher, ['--version'])
    return launcher
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    throw new SetupProblem(
      `Redis is missing (${reason}): type "sudo apt-get update" and "sudo apt-get install -y redis-server" ` +
        '(macOS: "brew install redis"), or set REDIS_URL',
    )
  }
}
