import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * Returns the folder of the fetched programs (Node, Redis, nginx): one for all checkouts and data folders of
 * a user. `ops/setup/own-node.mjs` finds the same folder before anything is installed.
 */
export function toolsFolder(root: string, env: NodeJS.ProcessEnv = process.env): string {
  if (env.SWITCHYARD_TOOLS) return resolve(root, env.SWITCHYARD_TOOLS)
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'switchyard', 'tools')
}
