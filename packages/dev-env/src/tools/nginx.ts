import { SetupProblem } from '../problem.js'
import { type AptTool, fetchAptCopy, findAptCopy } from './apt-copy.js'
import { findOnPath } from './find-on-path.js'

const tool: AptTool = { name: 'nginx', packages: ['nginx'], binaries: ['usr/sbin/nginx'] }

/** An nginx to start, found or fetched as `findRedisServer` does. Without root it needs the options -p, -c and -e. */
export async function findNginx(toolsDir: string): Promise<string> {
  const present = findOnPath('nginx') ?? findAptCopy(tool, toolsDir)
  if (present) return present
  try {
    return await fetchAptCopy(tool, toolsDir)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SetupProblem(`nginx is missing (${reason}): type "sudo apt-get install -y nginx"`)
  }
}
