import { type Driver, programTasks } from '../driver.js'

export const mcpGitlab: Driver = {
  tool: '@zereight/mcp-gitlab',
  npm: '@zereight/mcp-gitlab',
  tasks: programTasks([process.execPath], 'mcp-gitlab.mjs', {
    files: 'writes, pushes and reads files',
    commits: 'branches, commits and diffs',
    projects: 'finds projects',
    releases: 'releases, pipelines',
  }),
}
